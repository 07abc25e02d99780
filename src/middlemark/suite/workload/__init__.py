"""What is sent: messages, their quality of service, and pipelines of nodes."""
