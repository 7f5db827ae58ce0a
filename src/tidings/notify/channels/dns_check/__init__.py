"""What the domain name system says about a sender's domain, judged, with advice in words."""
