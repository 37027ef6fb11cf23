"""What holds for every request: how it arrives, where it may come from, how its errors are told and described."""
