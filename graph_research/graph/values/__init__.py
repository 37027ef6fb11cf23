"""Values of channels: their stored form, their JSON Schema, and the Python types built from them."""
