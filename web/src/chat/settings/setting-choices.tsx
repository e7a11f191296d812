import { useCallback, useId } from 'react';
import { filterObjects, toObject, toText } from '#base/json/json.ts';
import { type ChatSettings, type Effort, efforts, isEffort } from '../../conversation/chat-settings.ts';
import { chatSettingsGerman } from '../../locales/de/chat/chat-settings.ts';
import { effortGerman } from '../../locales/de/chat/effort.ts';
import { type ChatSettingsStrings, chatSettingsEnglish } from '../../locales/en/chat/chat-settings.ts';
import { type EffortStrings, effortEnglish } from '../../locales/en/chat/effort.ts';
import { chatSettingsSpanish } from '../../locales/es/chat/chat-settings.ts';
import { effortSpanish } from '../../locales/es/chat/effort.ts';
import { chatSettingsFrench } from '../../locales/fr/chat/chat-settings.ts';
import { effortFrench } from '../../locales/fr/chat/effort.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import type { Service } from '../../service/service.ts';
import { usePage } from '../../shell/page.tsx';
import { useLocalizedStrings } from '../../strings/strings.tsx';
import './chat-settings.css';

interface SettingRowProps {
  readonly settings: ChatSettings;
  readonly change: (settings: ChatSettings) => void;
  /** Whether the deployment thinks before it answers. */
  readonly canReason: boolean;
  /** Whether the deployment is a model that can use the tools of the service. */
  readonly canUseAddons: boolean;
}

/** Thinking and tools of a chat, next to its message box. */
export function SettingRow({ settings, change, canReason, canUseAddons }: SettingRowProps) {
  const { chatTools } = useChatSettingsStrings();
  const { thinking } = useEffortStrings();
  const { effort, addons = [], ...otherSettings } = settings;
  const id = useId();
  const withEffort = effort !== undefined && { effort };
  return (
    <div className="setting-row small">
      {canReason && (
        <div className={effort === undefined ? 'setting' : 'setting marked'}>
          <Icon name="bulb" />
          <label htmlFor={id}>{thinking}</label>
          <EffortSelect
            {...{ id, selected: effort }}
            choose={(next) => change({ ...otherSettings, ...(next && { effort: next }), ...(addons.length > 0 && { addons }) })}
          />
        </div>
      )}
      {canUseAddons && (
        <Menu
          label={addons.length === 0 ? chatTools : `${chatTools} (${addons.length})`}
          className={addons.length === 0 ? 'setting' : 'setting marked'}
          icon={<Icon name="tool" />}
          isMultiple
        >
          <ToolChoice
            selectedIds={addons}
            choose={(next) => change({ ...otherSettings, ...withEffort, ...(next.length > 0 && { addons: next }) })}
          />
        </Menu>
      )}
    </div>
  );
}

interface EffortChoiceProps {
  /** Undefined lets the model decide. */
  readonly selected: Effort | undefined;
  readonly choose: (effort: Effort | undefined) => void;
}

/** The reasoning effort of a model. */
export function EffortChoice(choice: EffortChoiceProps) {
  const strings = useEffortStrings();
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{strings.effort}</label>
      <EffortSelect {...{ ...choice, id }} />
      <span className="soft small">{strings.effortHint}</span>
    </div>
  );
}

function EffortSelect({ id, selected, choose }: EffortChoiceProps & { readonly id: string }) {
  const strings = useEffortStrings();
  const { deploymentDefault } = useChatSettingsStrings();
  return (
    <select id={id} value={selected ?? ''} onChange={({ target }) => choose(isEffort(target.value) ? target.value : undefined)}>
      <option value="">{deploymentDefault}</option>
      {efforts.map((effort) => (
        <option key={effort} value={effort}>
          {strings[effort]}
        </option>
      ))}
    </select>
  );
}

interface ToolChoiceProps {
  /** IDs of the selected tools. */
  readonly selectedIds: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Tools of the service for a model in this chat. Not rendered if there are none. */
export function ToolChoice({ selectedIds, choose }: ToolChoiceProps) {
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

/** A tool of the service that a model can use for a question. */
interface Addon {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** Throws `ServiceError`. */
async function listAddons(service: Service): Promise<readonly Addon[]> {
  const answer = await service.json('openai/addons');
  const items = filterObjects(toObject(answer).data);
  return items.map(({ id, display_name: name, description }) => ({
    id: String(id),
    name: typeof name === 'string' ? name : String(id),
    description: toText(description),
  }));
}

/** Texts of the chat settings, in a separate chunk that is loaded with the settings. */
export function useChatSettingsStrings(): ChatSettingsStrings {
  return useLocalizedStrings({
    en: chatSettingsEnglish,
    de: chatSettingsGerman,
    fr: chatSettingsFrench,
    es: chatSettingsSpanish,
  });
}

/** Texts of the reasoning effort, in a separate chunk that is loaded with the chat settings. */
function useEffortStrings(): EffortStrings {
  return useLocalizedStrings({ en: effortEnglish, de: effortGerman, fr: effortFrench, es: effortSpanish });
}
