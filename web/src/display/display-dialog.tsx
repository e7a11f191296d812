import { useId, useState } from 'react';
import { FollowUpSection } from '../follow-ups/follow-up-section.tsx';
import { NoticeChoice } from '../notifications/notice-choice.tsx';
import { Segments } from '../parts/segments.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { DictationSection } from '../speech/dictation-section.tsx';
import { useStrings } from '../strings/strings.tsx';
import { contrasts, type Display, densities, motions, readDisplay, saveDisplay, textSizes } from './display.ts';
import { useDisplayStrings } from './display-strings.ts';
import '../parts/question-dialog.css';
import './display.css';

/** Text size, spacing, contrast, motion, and notifications. Changes apply immediately. */
export function DisplayDialog({ close }: { readonly close: () => void }) {
  const common = useStrings();
  const strings = useDisplayStrings();
  const { dialog, closeDialog } = useModalDialog(close);
  const title = useId();
  const [display, setDisplay] = useState(readDisplay);
  const choose = (change: Partial<Display>): void => {
    const next = { ...display, ...change };
    setDisplay(next);
    saveDisplay(next);
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog display-dialog', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{common.display}</h2>
      <Segments
        name={strings.textSize}
        value={display.textSize}
        onSelect={(textSize) => choose({ textSize })}
        options={textSizes.map((item) => [item, strings.textSizes[item]])}
      />
      <Segments
        name={strings.density}
        value={display.density}
        onSelect={(density) => choose({ density })}
        options={densities.map((item) => [item, strings.densities[item]])}
      />
      <Segments
        name={strings.contrast}
        value={display.contrast}
        onSelect={(contrast) => choose({ contrast })}
        options={contrasts.map((item) => [item, strings.contrasts[item]])}
      />
      <Segments
        name={strings.motion}
        value={display.motion}
        onSelect={(motion) => choose({ motion })}
        options={motions.map((item) => [item, strings.motions[item]])}
      />
      <NoticeChoice />
      <FollowUpSection />
      <DictationSection />
      <div className="row end">
        <button type="button" className="button primary" onClick={closeDialog}>
          {common.close}
        </button>
      </div>
    </dialog>
  );
}
