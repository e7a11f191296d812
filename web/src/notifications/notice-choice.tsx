import { useState } from 'react';
import { useDisplayStrings } from '../display/display-strings.ts';
import { Segments } from '../parts/segments.tsx';
import { canNotify, setNotices, wantsNotices } from './notices.ts';

/** Setting for notifications about answers. Not rendered if the browser has no notifications. */
export function NoticeChoice() {
  const strings = useDisplayStrings();
  const [isOn, setIsOn] = useState(wantsNotices);
  const [isRefused, setIsRefused] = useState(false);
  if (!canNotify()) return null;
  const choose = async (isEnabled: boolean): Promise<void> => {
    setIsRefused(!(await setNotices(isEnabled)));
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
      <p className={isRefused ? 'trouble small' : 'note'} role="status">
        {isRefused ? strings.noticesRefused : strings.noticesWhen}
      </p>
    </>
  );
}
