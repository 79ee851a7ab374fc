def grid(*extents):
    return extents
