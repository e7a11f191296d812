import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { type ChatSettings, type Effort, hasSettings } from '../../conversation/chat-settings.ts';
import { useAction } from '../../parts/use-loaded.ts';
import { useModalDialog } from '../../parts/use-modal-dialog.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useStrings } from '../../strings/strings.tsx';
import '../../forms/forms.css';
import '../../parts/question-dialog.css';
import './chat-settings.css';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { IconButton, TextButton } from '../../parts/icon.tsx';
import { maxNameLength, readPrompt, savePrompt } from '../../prompts/prompts.ts';
import { deleteDocument, listDocuments } from '../../service/user-documents.ts';
import { usePage } from '../../shell/page.tsx';
import { EffortChoice, ToolChoice, useChatSettingsStrings } from './setting-choices.tsx';

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
  const titleId = useId();
  const [draft, setDraft] = useState(() => toDraft(settings));
  const set = (next: Partial<SettingsDraft>): void => setDraft((current) => ({ ...current, ...next }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change(toSettings(draft));
    closeDialog();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog chat-settings', 'aria-labelledby': titleId }}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{strings.chatSettings}</h2>
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
          <TextButton onClick={() => setDraft(toDraft({}))}>{settingsStrings.resetAll}</TextButton>
          <TextButton onClick={closeDialog}>{strings.cancel}</TextButton>
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
  const use = (presetName: string): Promise<boolean> =>
    attempt(async () => {
      const { content, settings: preset } = await readPrompt(service, 'presets', presetName);
      apply({ ...(content.trim() !== '' && { instructions: content }), ...preset });
    });
  const save = (): Promise<boolean> =>
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
              <TextButton className="button slim" onClick={() => void use(presetName)}>
                {presetName}
              </TextButton>
              <IconButton
                icon="close"
                label={strings.deleteNamed(presetName)}
                onClick={() => void attempt(() => deleteDocument(service, 'presets', presetName))}
              />
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
            {strings.save}
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
  const { error, run } = useAction();
  const load = useCallback(() => listDocuments(service, 'presets').then(setNames, () => undefined), [service]);
  useEffect(() => void load(), [load]);
  const attempt = (act: () => Promise<void>): Promise<boolean> => run(() => act().then(load));
  return { names: names ?? [], isThere: names !== undefined, error, attempt };
}
