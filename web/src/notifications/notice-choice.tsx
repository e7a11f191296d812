import { useState } from 'react';
import { useDisplayStrings } from '../display/display-strings.ts';
import { Segments } from '../parts/segments.tsx';
import { canNotify, setNotices, wantsNotices } from './notices.ts';

/** Setting for notifications about answers. Not rendered if the browser has no notifications. */
export function NoticeChoice() {
  const strings = useDisplayStrings();
  const [isOn, setIsOn] = useState(wantsNotices);
  const [isRejected, setIsRejected] = useState(false);
  if (!canNotify()) return null;
  const choose = async (isEnabled: boolean): Promise<void> => {
    setIsRejected(!(await setNotices(isEnabled)));
    setIsOn(wantsNotices());
  };
  return (
    <>
      <Segments
        name={strings.notices}
        value={isOn ? 'on' : 'off'}
        options={[
          ['off', strings.noticesOff],
          ['on', strings.noticesOn],
        ]}
        onSelect={(value) => void choose(value === 'on')}
      />
      <p className={isRejected ? 'trouble small' : 'note'} role="status">
        {isRejected ? strings.noticesRefused : strings.noticesWhen}
      </p>
    </>
  );
}
