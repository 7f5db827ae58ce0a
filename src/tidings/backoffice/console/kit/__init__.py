"""What pages of the console are made of: fields, tables, charts, marks. Each returns HTML and knows no page."""
