import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { type ChatSettings, type Effort, efforts, hasSettings, isEffort } from '../../conversation/chat-settings.ts';
import { useModalDialog } from '../../parts/use-modal-dialog.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useLocalizedStrings, useStrings } from '../../strings/strings.tsx';
import '../../forms/forms.css';
import '../../parts/question-dialog.css';
import './chat-settings.css';
import { chatSettingsGerman } from '../../locales/de/chat/chat-settings.ts';
import { effortGerman } from '../../locales/de/chat/effort.ts';
import { type ChatSettingsStrings, chatSettingsEnglish } from '../../locales/en/chat/chat-settings.ts';
import { type EffortStrings, effortEnglish } from '../../locales/en/chat/effort.ts';
import { chatSettingsSpanish } from '../../locales/es/chat/chat-settings.ts';
import { effortSpanish } from '../../locales/es/chat/effort.ts';
import { chatSettingsFrench } from '../../locales/fr/chat/chat-settings.ts';
import { effortFrench } from '../../locales/fr/chat/effort.ts';
import { usePage } from '../../page/page.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { maxNameLength, readPrompt, savePrompt } from '../../prompts/prompts.ts';
import { listAddons } from '../../service/addons.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { deleteDocument, listDocuments } from '../../service/user-documents.ts';

interface ChatSettingsDialogProps {
  readonly settings: ChatSettings;
  /** Deployment of the chat. */
  readonly deployment: Deployment | undefined;
  readonly change: (settings: ChatSettings) => void;
  readonly close: () => void;
}

/** Values as entered in the fields. */
interface SettingsDraft {
  readonly instructions: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: Effort | undefined;
  readonly addons: readonly string[];
}

/** Instructions, temperature, length, thinking, and tools of one chat, and presets. */
export function ChatSettingsDialog({ settings, deployment, change, close }: ChatSettingsDialogProps) {
  const strings = useStrings();
  const settingsStrings = useChatSettingsStrings();
  const { dialog, closeDialog } = useModalDialog(close);
  const title = useId();
  const [draft, setDraft] = useState(() => toDraft(settings));
  const set = (next: Partial<SettingsDraft>): void => setDraft((now) => ({ ...now, ...next }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change(toSettings(draft));
    closeDialog();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog chat-settings', 'aria-labelledby': title, closedby: 'any' }}>
      <form onSubmit={submit}>
        <h2 id={title}>{strings.chatSettings}</h2>
        <Presets settings={toSettings(draft)} apply={(preset) => setDraft(toDraft(preset))} />
        <label className="field">
          <span>{settingsStrings.chatInstructions}</span>
          <textarea
            rows={5}
            value={draft.instructions}
            placeholder={settingsStrings.chatInstructionsHint}
            onChange={({ target }) => set({ instructions: target.value })}
          />
        </label>
        <label className="field">
          <span>{settingsStrings.chatTemperature}</span>
          <input
            {...{
              type: 'number',
              min: 0,
              max: 2,
              step: 0.1,
              value: draft.temperature,
              placeholder: settingsStrings.deploymentDefault,
            }}
            onChange={({ target }) => set({ temperature: target.value })}
          />
          <span className="soft small">{settingsStrings.chatTemperatureHint}</span>
        </label>
        <label className="field">
          <span>{settingsStrings.chatLength}</span>
          <input
            {...{ type: 'number', min: 1, step: 1, value: draft.maxTokens, placeholder: settingsStrings.deploymentDefault }}
            onChange={({ target }) => set({ maxTokens: target.value })}
          />
        </label>
        {deployment?.canReason === true && <EffortChoice selected={draft.effort} choose={(effort) => set({ effort })} />}
        {/* Applications have their own tools. */}
        {deployment?.isApplication === false && <ToolChoice selectedIds={draft.addons} choose={(addons) => set({ addons })} />}
        <div className="row end">
          <button type="button" className="button" onClick={() => setDraft(toDraft({}))}>
            {settingsStrings.resetAll}
          </button>
          <button type="button" className="button" onClick={closeDialog}>
            {strings.cancel}
          </button>
          <button type="submit" className="button primary">
            {settingsStrings.apply}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function toDraft({ instructions = '', temperature, maxTokens, effort, addons = [] }: ChatSettings): SettingsDraft {
  return { instructions, temperature: String(temperature ?? ''), maxTokens: String(maxTokens ?? ''), effort, addons };
}

function toSettings({ instructions, temperature, maxTokens, effort, addons }: SettingsDraft): ChatSettings {
  return {
    ...(instructions.trim() !== '' && { instructions }),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(maxTokens !== '' && { maxTokens: Number(maxTokens) }),
    ...(effort !== undefined && { effort }),
    ...(addons.length > 0 && { addons }),
  };
}

interface EffortChoiceProps {
  /** Undefined lets the model decide. */
  readonly selected: Effort | undefined;
  readonly choose: (effort: Effort | undefined) => void;
}

/** How long a model thinks before it answers. */
function EffortChoice({ selected, choose }: EffortChoiceProps) {
  const strings = useEffortStrings();
  const { deploymentDefault } = useChatSettingsStrings();
  return (
    <label className="field">
      <span>{strings.effort}</span>
      <select value={selected ?? ''} onChange={({ target }) => choose(isEffort(target.value) ? target.value : undefined)}>
        <option value="">{deploymentDefault}</option>
        {efforts.map((effort) => (
          <option key={effort} value={effort}>
            {strings[effort]}
          </option>
        ))}
      </select>
      <span className="soft small">{strings.effortHint}</span>
    </label>
  );
}

interface PresetsProps {
  /** Current settings. */
  readonly settings: ChatSettings;
  readonly apply: (settings: ChatSettings) => void;
}

/** Presets that the user stores for other chats and devices. Not rendered if the service does not store files. */
function Presets({ settings, apply }: PresetsProps) {
  const strings = useStrings();
  const settingsStrings = useChatSettingsStrings();
  const { names, error, attempt, isThere } = usePresets();
  const { service } = usePage();
  const [name, setName] = useState('');
  const use = (presetName: string): Promise<void> =>
    attempt(async () => {
      const { content, settings: preset } = await readPrompt(service, 'presets', presetName);
      apply({ ...(content.trim() !== '' && { instructions: content }), ...preset });
    });
  const save = (): Promise<void> =>
    attempt(async () => {
      const { instructions = ' ', ...otherSettings } = settings;
      await savePrompt(service, 'presets', { name: name.trim(), content: instructions, settings: otherSettings });
      setName('');
    });
  if (!isThere) return null;
  return (
    <section className="presets" aria-label={settingsStrings.presets}>
      {names.length > 0 && (
        <ul className="row">
          {names.map((presetName) => (
            <li key={presetName} className="preset">
              <button type="button" className="button slim" onClick={() => void use(presetName)}>
                {presetName}
              </button>
              <button
                type="button"
                className="icon-button"
                {...{ 'aria-label': strings.deleteConversation(presetName), title: strings.deleteConversation(presetName) }}
                onClick={() => void attempt(() => deleteDocument(service, 'presets', presetName))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {hasSettings(settings) && (
        <p className="row">
          <input
            {...{
              type: 'text',
              value: name,
              maxLength: maxNameLength,
              placeholder: settingsStrings.saveAsPreset,
              'aria-label': settingsStrings.saveAsPreset,
            }}
            onChange={({ target }) => setName(target.value)}
          />
          <button type="button" className="button" disabled={name.trim() === ''} onClick={() => void save()}>
            {strings.savePreset}
          </button>
        </p>
      )}
      <ErrorMessage error={error} />
    </section>
  );
}

function usePresets() {
  const { service } = usePage();
  const [names, setNames] = useState<readonly string[]>();
  const [error, setError] = useState<ErrorDetails>();
  const load = useCallback(() => listDocuments(service, 'presets').then(setNames, () => undefined), [service]);
  useEffect(() => void load(), [load]);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setError(undefined);
    await act().then(load, (error: unknown) => setError(toErrorDetails(error)));
  };
  return { names: names ?? [], isThere: names !== undefined, error, attempt };
}

interface ToolChoiceProps {
  /** IDs of the selected tools. */
  readonly selectedIds: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Tools of the service for a model in this chat. Not rendered if there are none. */
function ToolChoice({ selectedIds, choose }: ToolChoiceProps) {
  const settingsStrings = useChatSettingsStrings();
  const { service } = usePage();
  const { value: addons = [] } = useLoaded(useCallback(() => listAddons(service), [service]));
  if (addons.length === 0) return null;
  // Keeps the order of the list, and drops tools that no longer exist.
  const toggle = (id: string): void =>
    choose(addons.map((addon) => addon.id).filter((addonId) => selectedIds.includes(addonId) !== (addonId === id)));
  return (
    <fieldset className="field tool-choice">
      <legend>{settingsStrings.chatTools}</legend>
      <span className="soft small">{settingsStrings.chatToolsHint}</span>
      {addons.map(({ id, name, description }) => (
        <label key={id} className="tool">
          <input type="checkbox" checked={selectedIds.includes(id)} onChange={() => toggle(id)} />
          <span>
            {name}
            {description !== '' && <span className="soft small"> {description}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Texts of the chat settings, in a separate chunk that is loaded with the settings. */
function useChatSettingsStrings(): ChatSettingsStrings {
  return useLocalizedStrings({
    en: chatSettingsEnglish,
    de: chatSettingsGerman,
    fr: chatSettingsFrench,
    es: chatSettingsSpanish,
  });
}

/** Texts of the thinking effort, in a separate chunk that is loaded with the chat settings. */
function useEffortStrings(): EffortStrings {
  return useLocalizedStrings({ en: effortEnglish, de: effortGerman, fr: effortFrench, es: effortSpanish });
}
