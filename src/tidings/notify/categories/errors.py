"""What can go wrong with categories.

RefusalError
├── NotFoundError
│   └── UnknownCategoryError     there is no category of this name
└── ConflictError
    └── CategoryTakenError       there is one of this name already
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownCategoryError(NotFoundError):
    """There is no category of this name."""

    code = "category_not_found"


class CategoryTakenError(ConflictError):
    """There is a category of this name already; change that one, or choose another name."""

    code = "category_taken"
