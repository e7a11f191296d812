import { useId, useState } from 'react';
import { FollowUpSection } from '../follow-ups/follow-up-section.tsx';
import { NoticeChoice } from '../notifications/notice-choice.tsx';
import { Segments } from '../parts/segments.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { DictationSection } from '../speech/dictation-section.tsx';
import { useWords } from '../words/words.tsx';
import { contrasts, type Display, densities, keepDisplay, motions, readDisplay, textSizes } from './display.ts';
import { useDisplayWords } from './display-words.ts';
import '../parts/question-dialog.css';
import './display.css';

/** Text size, spacing, contrast, motion and notifications; what is chosen is seen at once. */
export function DisplayDialog({ close }: { readonly close: () => void }) {
  const common = useWords();
  const words = useDisplayWords();
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  const [display, setDisplay] = useState(readDisplay);
  const choose = (change: Partial<Display>): void => {
    const next = { ...display, ...change };
    setDisplay(next);
    keepDisplay(next);
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog display-dialog', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{common.display}</h2>
      <Segments
        name={words.textSize}
        value={display.textSize}
        choose={(textSize) => choose({ textSize })}
        options={textSizes.map((each) => [each, words.textSizes[each]])}
      />
      <Segments
        name={words.density}
        value={display.density}
        choose={(density) => choose({ density })}
        options={densities.map((each) => [each, words.densities[each]])}
      />
      <Segments
        name={words.contrast}
        value={display.contrast}
        choose={(contrast) => choose({ contrast })}
        options={contrasts.map((each) => [each, words.contrasts[each]])}
      />
      <Segments
        name={words.motion}
        value={display.motion}
        choose={(motion) => choose({ motion })}
        options={motions.map((each) => [each, words.motions[each]])}
      />
      <NoticeChoice />
      <FollowUpSection />
      <DictationSection />
      <div className="row end">
        <button type="button" className="button primary" onClick={leave}>
          {common.close}
        </button>
      </div>
    </dialog>
  );
}
