import { useState } from 'react';
import { useDisplayWords } from '../display/display-words.ts';
import { useNameOf, usePage } from '../page/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { chooseFollowUps, wantsFollowUps } from './follow-up-choice.ts';

/** Whether to suggest what to ask next; nothing where no model is set for such. */
export function FollowUpSection() {
  const words = useDisplayWords();
  const { titleModel } = usePage();
  const nameOf = useNameOf();
  const [isOn, setIsOn] = useState(wantsFollowUps);
  if (titleModel === undefined) return null;
  const choose = (wanted: boolean): void => {
    chooseFollowUps(wanted);
    setIsOn(wanted);
  };
  return (
    <>
      <Segments
        name={words.followUps}
        value={isOn ? 'on' : 'off'}
        options={[
          ['off', words.followUpsOff],
          ['on', words.followUpsOn],
        ]}
        choose={(value) => choose(value === 'on')}
      />
      <p className="note">{words.followUpsMean(nameOf(titleModel))}</p>
    </>
  );
}
