"""Pictures of pages as files."""

from xpos_viz.cli.output import save
from xpos_viz.cli.pictures import Wanted, picture_command
from xpos_viz.export import FORMS, make


@picture_command("figure", *FORMS)
def command(wanted: Wanted) -> None:
    """Without PICTURE it is the first one: xpos-viz figure compare --out maps.pdf --gamma 0.2.

    CSV has no place for a recipe, which is written beside it, as .recipe.json.
    """
    shown = wanted.chosen()
    recipe = wanted.recipe(shown)
    save(wanted.out, make(shown, wanted.form, recipe))
    if wanted.form == "csv":
        save(wanted.out.with_suffix(".recipe.json"), recipe.text().encode())
