"""Live streams of in-app inboxes: what changes in an inbox is told to whoever has it open, over SSE or a WebSocket."""
