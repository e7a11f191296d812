import { type Effort, efforts, isEffort } from '../conversation/chat-settings.ts';
import { useChatSettingsWords } from './chat-settings-words.ts';
import { useEffortWords } from './effort-words.ts';

interface EffortChoiceProps {
  /** Undefined where the model decides. */
  readonly chosen: Effort | undefined;
  readonly choose: (effort: Effort | undefined) => void;
}

/** How long a model thinks before it answers. */
export function EffortChoice({ chosen, choose }: EffortChoiceProps) {
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
