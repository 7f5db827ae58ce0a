"""The services that know what happens in hotels and schools: their HTTP contract, and the client that reads them."""
