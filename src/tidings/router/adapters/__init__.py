"""Vendors: one package each (`adapter.py` sends, `callbacks.py` reads what the vendor tells later), and packages that they share."""
