import { useId, useState } from 'react';
import { areFollowUpsEnabled, setFollowUps } from '../follow-ups/follow-up-choice.ts';
import { displayGerman } from '../locales/de/display.ts';
import { type DisplayStrings, displayEnglish } from '../locales/en/display.ts';
import { displaySpanish } from '../locales/es/display.ts';
import { displayFrench } from '../locales/fr/display.ts';
import { areNotificationsEnabled, setNotifications, supportsNotifications } from '../notifications/answer-notifications.ts';
import { TextButton } from '../parts/icon.tsx';
import { Segments } from '../parts/segments.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { canRecognizeSpeech, type DictationChoice, readDictation, saveDictation } from '../speech/recognition.ts';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';
import { contrasts, type Display, densities, motions, readDisplay, saveDisplay, textSizes } from './display.ts';
import '../parts/question-dialog.css';
import './display.css';

/** Settings of the display, notifications, follow-up questions, and dictation. Changes apply immediately. */
export function DisplayDialog({ close }: { readonly close: () => void }) {
  const common = useStrings();
  const strings = useDisplayStrings();
  const { dialog, closeDialog } = useModalDialog(close);
  const titleId = useId();
  const [display, setDisplay] = useState(readDisplay);
  const choose = (change: Partial<Display>): void => {
    const next = { ...display, ...change };
    setDisplay(next);
    saveDisplay(next);
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog display-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{common.display}</h2>
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
      <NotificationSection />
      <FollowUpSection />
      <DictationSection />
      <div className="row end">
        <TextButton className="button primary" onClick={closeDialog}>
          {common.close}
        </TextButton>
      </div>
    </dialog>
  );
}

/** Setting for follow-up questions. Not rendered if no model is configured for them. */
function FollowUpSection() {
  const strings = useDisplayStrings();
  const { titleModel } = usePage();
  const getName = useGetName();
  const [isOn, setIsOn] = useState(areFollowUpsEnabled);
  if (titleModel === undefined) return null;
  const choose = (isEnabled: boolean): void => {
    setFollowUps(isEnabled);
    setIsOn(isEnabled);
  };
  return (
    <>
      <OnOff name={strings.followUps} off={strings.followUpsOff} on={strings.followUpsOn} {...{ isOn, choose }} />
      <p className="note">{strings.followUpsHint(getName(titleModel))}</p>
    </>
  );
}

/** Setting for notifications about answers. Not rendered if the browser has no notifications. */
function NotificationSection() {
  const strings = useDisplayStrings();
  const [isOn, setIsOn] = useState(areNotificationsEnabled);
  const [isRejected, setIsRejected] = useState(false);
  if (!supportsNotifications()) return null;
  const choose = async (isEnabled: boolean): Promise<void> => {
    setIsRejected(!(await setNotifications(isEnabled)));
    setIsOn(areNotificationsEnabled());
  };
  return (
    <>
      <OnOff name={strings.notifications} off={strings.notificationsOff} on={strings.notificationsOn} {...{ isOn, choose }} />
      <p className={isRejected ? 'error-text small' : 'note'} role="status">
        {isRejected ? strings.notificationsBlocked : strings.notificationsHint}
      </p>
    </>
  );
}

interface OnOffProps {
  readonly name: string;
  /** Labels of the options. */
  readonly off: string;
  readonly on: string;
  readonly isOn: boolean;
  readonly choose: (isEnabled: boolean) => void;
}

function OnOff({ name, off, on, isOn, choose }: OnOffProps) {
  const options = [['off', off] as const, ['on', on] as const];
  return <Segments {...{ name, options }} value={isOn ? 'on' : 'off'} onSelect={(value) => choose(value === 'on')} />;
}

/** Setting for dictation and its mode. Not rendered if the browser does not support dictation. */
function DictationSection() {
  const strings = useDisplayStrings();
  const [choice, setChoice] = useState(readDictation);
  if (!canRecognizeSpeech()) return null;
  const choose = (next: DictationChoice): void => {
    saveDictation(next);
    setChoice(next);
  };
  return (
    <>
      <Segments
        name={strings.dictation}
        value={choice}
        options={[
          ['off', strings.dictationOff],
          ['onDevice', strings.dictationOnDevice],
          ['online', strings.dictationOnline],
        ]}
        onSelect={choose}
      />
      <p className="note">{strings.dictationHints[choice]}</p>
    </>
  );
}

/** Texts of the display settings, in a separate chunk that only the dialog loads. */
function useDisplayStrings(): DisplayStrings {
  return useLocalizedStrings({ en: displayEnglish, de: displayGerman, fr: displayFrench, es: displaySpanish });
}
