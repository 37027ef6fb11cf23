"""Jobs in the shapes of OpenAI's API, for programs that speak it: a model is a graph, a response is a job."""
