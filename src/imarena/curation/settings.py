"""Parameters of CogRetriever. CV-Arena (section 3.3, appendix C) prints K, N, tau and K_p; all others are ours."""

from pydantic import Field, ValidationError

from imarena.core import FrozenModel, JsonDict, UserError, validation_problem


class CurationSettings(FrozenModel):
    """Every parameter of a curation run."""

    queries: int = Field(default=5, ge=1, le=20)
    """K: queries per round."""
    results_per_query: int = Field(default=20, ge=1, le=200)
    """N: results per query and source."""
    threshold: float = Field(default=0.8, ge=0, le=1)
    """tau: the minimum score to enter the pool."""
    pool: int = Field(default=3, ge=1, le=100)
    """K_p: images per instruction."""
    rounds: int = Field(default=4, ge=1, le=50)
    """T: rounds before an instruction is flagged for manual review (ours: the paper names T without a value)."""
    min_long_side: int = Field(default=2048, ge=16)
    """Minimum long side in pixels (ours: the paper asks for high resolution without a number)."""
    max_blocking: float = Field(default=0.9, gt=0)
    """JPEG block strength above which an image has compression artefacts (ours; see `imarena see --tool quality`)."""
    max_blur: float = Field(default=0.62, gt=0, le=1)
    """Images with more blur are refused, except for tasks about blur (ours)."""
    hash_distance: int = Field(default=7, ge=0, le=11)
    """Perceptual hashes that differ in at most this many bits are compared in detail (ours)."""
    duplicate_likeness: float = Field(default=0.96, gt=0, le=1)
    """Correlation of the aligned thumbnails from which two images are near-duplicates (ours)."""
    caption_similarity: float = Field(default=0.9, gt=0, le=1)
    """Captions of at least this similarity are flagged for review (ours)."""
    duplicates_in: str = Field(default="benchmark", pattern="^(benchmark|instruction)$")
    """Scope of the near-duplicate search: the whole data set, or the images of one instruction (ours)."""


def read_curation_settings(table: JsonDict, where: str = "[curation]") -> CurationSettings:
    """Check a table of settings; raises with the name of an unknown or wrong entry."""
    try:
        return CurationSettings.model_validate(table)
    except ValidationError as error:
        problem = validation_problem(error, CurationSettings)
        raise UserError(f"{where}: {problem.text}.", hint=problem.hint) from error
