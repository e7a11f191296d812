"""Builds public-sans.woff2 from the font of the npm package (README.md). Needs fonttools and brotli."""

import sys

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ranges = "20-7E A0-FF 152-153 2013-2014 2018-201A 201C-201E 2022 2026 2039-203A 20AC 2122 2212"
figure_width = 1260  # in units of 2000 per em. The width of 1400 in the original spaces numbers too widely


def codes():
    for part in ranges.split():
        first, _, last = part.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def narrow_figures(font):
    """Moves each tabular figure to the middle of a narrower cell."""
    tables = font["GSUB"].table
    [lookups] = {tuple(r.Feature.LookupListIndex) for r in tables.FeatureList.FeatureRecord if r.FeatureTag == "tnum"}
    for subtable in (each for index in lookups for each in tables.LookupList.Lookup[index].SubTable):
        for name in getattr(subtable, "ExtSubTable", subtable).mapping.values():
            width, bearing = font["hmtx"][name]
            if width != 1400:
                continue
            shift = (width - figure_width) // 2
            glyph = font["glyf"][name]
            if glyph.isComposite():
                for component in glyph.components:
                    component.x -= shift
            else:
                glyph.coordinates.translate((-shift, 0))
            glyph.recalcBounds(font["glyf"])
            font["hmtx"][name] = (figure_width, bearing - shift)


source, target = sys.argv[1:]
font = instantiateVariableFont(TTFont(source), {"wght": (400, 700)})
narrow_figures(font)
options = Options(hinting=False, layout_features=["kern", "mark", "ccmp", "locl", "calt", "liga", "tnum"])
subsetter = Subsetter(options)
subsetter.populate(unicodes=codes())
subsetter.subset(font)
font.flavor = "woff2"
font.save(target)
