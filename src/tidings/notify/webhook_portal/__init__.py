"""The webhook portal: pages where the customers of a tenant look after their own endpoints, opened by a link that ends soon."""
