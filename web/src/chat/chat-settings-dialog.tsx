import { type FormEvent, useId, useState } from 'react';
import type { ChatSettings, Effort } from '../conversation/chat-settings.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { useChatSettingsWords } from './chat-settings-words.ts';
import { EffortChoice } from './effort-choice.tsx';
import { Presets } from './presets.tsx';
import { ToolChoice } from './tool-choice.tsx';
import '../forms/forms.css';
import '../parts/question-dialog.css';
import './chat-settings.css';

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
