"""What mail adapters share: MIME, DKIM, return paths, the events of mail vendors."""
