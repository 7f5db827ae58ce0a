"""The npm package `mjml-browser` as a witness of what MJML is, in V8."""
