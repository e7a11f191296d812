import { useState } from 'react';
import { contrasts, type Display, densities, motions, readDisplay, saveDisplay, textSizes } from '../src/display/display.ts';
import { Segments } from '../src/parts/segments.tsx';
import { appearances, useAppearance } from '../src/shell/appearance.ts';

/** Shows the display options of the page. */
export function DisplayChoice() {
  const [display, setDisplay] = useState(readDisplay);
  const [appearance, setAppearance] = useAppearance();
  const take = (changed: Partial<Display>): void => {
    const next = { ...display, ...changed };
    saveDisplay(next);
    setDisplay(next);
  };
  const pairs = <Value extends string>(values: readonly Value[]) => values.map((value) => [value, value] as const);
  return (
    <div className="row">
      <Segments name="Appearance" value={appearance} options={pairs(appearances)} onSelect={setAppearance} />
      <Segments name="Text" value={display.textSize} options={pairs(textSizes)} onSelect={(textSize) => take({ textSize })} />
      <Segments name="Space" value={display.density} options={pairs(densities)} onSelect={(density) => take({ density })} />
      <Segments name="Contrast" value={display.contrast} options={pairs(contrasts)} onSelect={(contrast) => take({ contrast })} />
      <Segments name="Motion" value={display.motion} options={pairs(motions)} onSelect={(motion) => take({ motion })} />
    </div>
  );
}
