"""Large matrices as small pictures: blocks of any matrix, and maps of any length."""

from xpos_viz.pooling.blocks import block_any, block_mean, block_size, robust_limit
from xpos_viz.pooling.maps import PooledMap, pooled_map

__all__ = ["PooledMap", "block_any", "block_mean", "block_size", "pooled_map", "robust_limit"]
