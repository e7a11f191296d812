import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { type ChatSettings, type Effort, efforts, isEffort, isSet } from '../../conversation/chat-settings.ts';
import { useShownDialog } from '../../parts/use-shown-dialog.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useWords, useWordsOf } from '../../words/words.tsx';
import '../../forms/forms.css';
import '../../parts/question-dialog.css';
import './chat-settings.css';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { deletePrompt, listPrompts, longestName, readPrompt, savePrompt } from '../../prompts/prompts.ts';
import { listAddons } from '../../service/addons.ts';
import { type Fault, faultOf } from '../../service/fault.ts';
import { type ChatSettingsWords, chatSettingsEnglish } from './chat-settings-english.ts';
import { chatSettingsFrench } from './chat-settings-french.ts';
import { chatSettingsGerman } from './chat-settings-german.ts';
import { chatSettingsSpanish } from './chat-settings-spanish.ts';
import { type EffortWords, effortEnglish } from './effort-english.ts';
import { effortFrench } from './effort-french.ts';
import { effortGerman } from './effort-german.ts';
import { effortSpanish } from './effort-spanish.ts';

interface ChatSettingsDialogProps {
  readonly settings: ChatSettings;
  /** Whom the conversation is with. */
  readonly deployment: Deployment | undefined;
  readonly change: (settings: ChatSettings) => void;
  readonly close: () => void;
}

/** As it is written in the fields. */
interface Written {
  readonly instructions: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: Effort | undefined;
  readonly addons: readonly string[];
}

/** Instructions, temperature, length, thinking and tools of one conversation, and presets of them. */
export function ChatSettingsDialog({ settings, deployment, change, close }: ChatSettingsDialogProps) {
  const words = useWords();
  const own = useChatSettingsWords();
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  const [written, setWritten] = useState(() => toWritten(settings));
  const set = (next: Partial<Written>): void => setWritten((now) => ({ ...now, ...next }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change(toSettings(written));
    leave();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog chat-settings', 'aria-labelledby': title, closedby: 'any' }}>
      <form onSubmit={submit}>
        <h2 id={title}>{words.chatSettings}</h2>
        <Presets settings={toSettings(written)} take={(preset) => setWritten(toWritten(preset))} />
        <label className="field">
          <span>{own.chatInstructions}</span>
          <textarea
            rows={5}
            value={written.instructions}
            placeholder={own.chatInstructionsHint}
            onChange={({ target }) => set({ instructions: target.value })}
          />
        </label>
        <label className="field">
          <span>{own.chatTemperature}</span>
          <input
            {...{ type: 'number', min: 0, max: 2, step: 0.1, value: written.temperature, placeholder: own.asDeployment }}
            onChange={({ target }) => set({ temperature: target.value })}
          />
          <span className="soft small">{own.chatTemperatureHint}</span>
        </label>
        <label className="field">
          <span>{own.chatLength}</span>
          <input
            {...{ type: 'number', min: 1, step: 1, value: written.maxTokens, placeholder: own.asDeployment }}
            onChange={({ target }) => set({ maxTokens: target.value })}
          />
        </label>
        {deployment?.reasons === true && <EffortChoice chosen={written.effort} choose={(effort) => set({ effort })} />}
        {/* Applications have tools of their own. */}
        {deployment?.isApplication === false && <ToolChoice chosen={written.addons} choose={(addons) => set({ addons })} />}
        <div className="row end">
          <button type="button" className="button" onClick={() => setWritten(toWritten({}))}>
            {own.setNothing}
          </button>
          <button type="button" className="button" onClick={leave}>
            {words.cancel}
          </button>
          <button type="submit" className="button primary">
            {own.apply}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function toWritten({ instructions = '', temperature, maxTokens, effort, addons = [] }: ChatSettings): Written {
  return { instructions, temperature: String(temperature ?? ''), maxTokens: String(maxTokens ?? ''), effort, addons };
}

function toSettings({ instructions, temperature, maxTokens, effort, addons }: Written): ChatSettings {
  return {
    ...(instructions.trim() !== '' && { instructions }),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(maxTokens !== '' && { maxTokens: Number(maxTokens) }),
    ...(effort !== undefined && { effort }),
    ...(addons.length > 0 && { addons }),
  };
}

interface EffortChoiceProps {
  /** Undefined where the model decides. */
  readonly chosen: Effort | undefined;
  readonly choose: (effort: Effort | undefined) => void;
}

/** How long a model thinks before it answers. */
function EffortChoice({ chosen, choose }: EffortChoiceProps) {
  const words = useEffortWords();
  const { asDeployment } = useChatSettingsWords();
  return (
    <label className="field">
      <span>{words.effort}</span>
      <select value={chosen ?? ''} onChange={({ target }) => choose(isEffort(target.value) ? target.value : undefined)}>
        <option value="">{asDeployment}</option>
        {efforts.map((effort) => (
          <option key={effort} value={effort}>
            {words[effort]}
          </option>
        ))}
      </select>
      <span className="soft small">{words.effortHint}</span>
    </label>
  );
}

interface PresetsProps {
  /** What is set now. */
  readonly settings: ChatSettings;
  readonly take: (settings: ChatSettings) => void;
}

/** Settings that the user keeps under a name, for other conversations and devices. Absent where the service keeps nothing. */
function Presets({ settings, take }: PresetsProps) {
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

interface ToolChoiceProps {
  /** Ids of those that are chosen. */
  readonly chosen: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Which tools of the service a model has in this conversation; nothing where there are none. */
function ToolChoice({ chosen, choose }: ToolChoiceProps) {
  const own = useChatSettingsWords();
  const { service } = usePage();
  const { value: addons = [] } = useLoaded(useCallback(() => listAddons(service), [service]));
  if (addons.length === 0) return null;
  // In the order of the list, and without what is no longer there.
  const toggle = (id: string): void =>
    choose(addons.map((each) => each.id).filter((each) => chosen.includes(each) !== (each === id)));
  return (
    <fieldset className="field tool-choice">
      <legend>{own.chatTools}</legend>
      <span className="soft small">{own.chatToolsHint}</span>
      {addons.map(({ id, name, description }) => (
        <label key={id} className="tool">
          <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
          <span>
            {name}
            {description !== '' && <span className="soft small"> {description}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What the settings of a conversation say; apart from the other words, so that they are loaded when they are opened. */
function useChatSettingsWords(): ChatSettingsWords {
  return useWordsOf({ en: chatSettingsEnglish, de: chatSettingsGerman, fr: chatSettingsFrench, es: chatSettingsSpanish });
}

/** What is said of how long a model thinks; apart from the other words, as it comes with the settings of a conversation. */
function useEffortWords(): EffortWords {
  return useWordsOf({ en: effortEnglish, de: effortGerman, fr: effortFrench, es: effortSpanish });
}
