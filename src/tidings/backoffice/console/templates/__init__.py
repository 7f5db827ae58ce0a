"""Pages on templates: the list, versions, the editor with its previews, differences, files in and out."""
