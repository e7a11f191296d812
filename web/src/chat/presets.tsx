import { useCallback, useEffect, useState } from 'react';
import { type ChatSettings, isSet } from '../conversation/chat-settings.ts';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { deletePrompt, listPrompts, longestName, readPrompt, savePrompt } from '../prompts/prompts.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useWords } from '../words/words.tsx';
import { useChatSettingsWords } from './chat-settings-words.ts';

interface PresetsProps {
  /** What is set now. */
  readonly settings: ChatSettings;
  readonly take: (settings: ChatSettings) => void;
}

/** Settings that the user keeps under a name, for other conversations and devices. Absent where the service keeps nothing. */
export function Presets({ settings, take }: PresetsProps) {
  const words = useWords();
  const own = useChatSettingsWords();
  const { names, fault, attempt, isThere } = useKept();
  const { service } = usePage();
  const [name, setName] = useState('');
  const use = (each: string): Promise<void> =>
    attempt(async () => {
      const { content, settings: others } = await readPrompt(service, 'presets', each);
      take({ ...(content.trim() !== '' && { instructions: content }), ...others });
    });
  const keep = (): Promise<void> =>
    attempt(async () => {
      const { instructions = ' ', ...others } = settings;
      await savePrompt(service, 'presets', { name: name.trim(), content: instructions, settings: others });
      setName('');
    });
  if (!isThere) return null;
  return (
    <section className="presets" aria-label={own.presets}>
      {names.length > 0 && (
        <ul className="row">
          {names.map((each) => (
            <li key={each} className="preset">
              <button type="button" className="button slim" onClick={() => void use(each)}>
                {each}
              </button>
              <button
                type="button"
                className="icon-button"
                {...{ 'aria-label': words.deleteConversation(each), title: words.deleteConversation(each) }}
                onClick={() => void attempt(() => deletePrompt(service, 'presets', each))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isSet(settings) && (
        <p className="row">
          <input
            {...{
              type: 'text',
              value: name,
              maxLength: longestName,
              placeholder: own.presetName,
              'aria-label': own.presetName,
            }}
            onChange={({ target }) => setName(target.value)}
          />
          <button type="button" className="button" disabled={name.trim() === ''} onClick={() => void keep()}>
            {words.keepPreset}
          </button>
        </p>
      )}
      <Trouble fault={fault} />
    </section>
  );
}

function useKept() {
  const { service } = usePage();
  const [names, setNames] = useState<readonly string[]>();
  const [fault, setFault] = useState<Fault>();
  const load = useCallback(() => listPrompts(service, 'presets').then(setNames, () => undefined), [service]);
  useEffect(() => void load(), [load]);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setFault(undefined);
    await act().then(load, (thrown: unknown) => setFault(faultOf(thrown)));
  };
  return { names: names ?? [], isThere: names !== undefined, fault, attempt };
}
