"""Rendering: many messages at once, by real Handlebars inside V8, with limits that a hostile template meets."""
