import { useCallback } from 'react';
import { usePage } from '../page/page.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { listAddons } from '../service/addons.ts';
import { useChatSettingsWords } from './chat-settings-words.ts';

interface ToolChoiceProps {
  /** Ids of those that are chosen. */
  readonly chosen: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Which tools of the service a model has in this conversation; nothing where there are none. */
export function ToolChoice({ chosen, choose }: ToolChoiceProps) {
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
