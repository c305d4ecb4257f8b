from .build_plan import BuildPlan as BuildPlan
from .build_plan import plan_build as plan_build
from .building import BuildReport as BuildReport
from .building import BuildSettings as BuildSettings
from .building import build_benchmark as build_benchmark
from .decomposers import decompose_image as decompose_image
from .decomposers import wire_decomposer as wire_decomposer
from .scene_evidence import scene_document as scene_document
