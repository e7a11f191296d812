import { useState } from 'react';
import { useDisplayStrings } from '../display/display-strings.ts';
import { useGetName, usePage } from '../page/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { chooseFollowUps, wantsFollowUps } from './follow-up-choice.ts';

/** Setting for follow-up questions. Not rendered if no model is configured for them. */
export function FollowUpSection() {
  const strings = useDisplayStrings();
  const { titleModel } = usePage();
  const getName = useGetName();
  const [isOn, setIsOn] = useState(wantsFollowUps);
  if (titleModel === undefined) return null;
  const choose = (isEnabled: boolean): void => {
    chooseFollowUps(isEnabled);
    setIsOn(isEnabled);
  };
  return (
    <>
      <Segments
        name={strings.followUps}
        value={isOn ? 'on' : 'off'}
        options={[
          ['off', strings.followUpsOff],
          ['on', strings.followUpsOn],
        ]}
        onSelect={(value) => choose(value === 'on')}
      />
      <p className="note">{strings.followUpsMean(getName(titleModel))}</p>
    </>
  );
}
