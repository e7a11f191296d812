import { type FormEvent, useId, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { SecretField } from '../parts/secret-field.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import type { Service } from '../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { useLanguage } from '../strings/strings.tsx';
import { useCodeStrings } from './code-strings.ts';

/** A key that the user created. Times are in milliseconds since the epoch. */
interface UserKey {
  readonly id: string;
  /** Empty if there is none. */
  readonly name: string;
  /** First characters of the key. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
}

/** Maximum number of active keys, and their maximum lifetime in days. */
interface KeyQuota {
  readonly keys: number;
  readonly maxDays: number;
}

/** Keys that users create (docs/keys.md). All methods throw `ServiceError`. */
export class UserKeys {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Returns null if the user cannot create keys. */
  async getQuota(): Promise<KeyQuota | null> {
    const info = await this.#service.json('v1/user/info');
    return isJsonObject(info) && isJsonObject(info.selfService) ? (info.selfService as unknown as KeyQuota) : null;
  }

  async list(): Promise<readonly UserKey[]> {
    const response = await this.#service.json('v1/user/keys');
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly UserKey[]) : [];
  }

  /** The service returns the key only once. */
  async create(options: { readonly name?: string; readonly days: number }): Promise<CreatedKey> {
    return (await this.#service.json('v1/user/keys', { method: 'POST', body: options })) as CreatedKey;
  }

  async delete(id: string): Promise<void> {
    await this.#service.send(`v1/user/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }
}

export type CreatedKey = UserKey & { readonly key: string };

interface OwnKeysProps {
  readonly keys: UserKeys;
  readonly quota: KeyQuota;
  /** The key that was created here, while it exists. */
  readonly createdKey: CreatedKey | undefined;
  readonly setCreatedKey: (createdKey: CreatedKey | undefined) => void;
}

/** Creates and lists keys for the user's programs. */
export function OwnKeys({ keys, quota, createdKey, setCreatedKey }: OwnKeysProps) {
  const strings = useCodeStrings();
  const titleId = useId();
  const [load] = useState(() => () => keys.list());
  const { value: userKeys, error, reload } = useLoaded(load);
  const activeCount = userKeys?.filter(({ expiresAt }) => expiresAt > Date.now()).length ?? 0;
  const onCreated = (key: CreatedKey): void => {
    setCreatedKey(key);
    reload();
  };
  const onDeleted = (id: string): void => {
    if (id === createdKey?.id) setCreatedKey(undefined);
    reload();
  };
  return (
    <section className="own-keys" aria-labelledby={titleId}>
      <h3 id={titleId}>{strings.yourKey}</h3>
      {createdKey === undefined && activeCount < quota.keys && <NewKey {...{ keys, quota }} onCreated={onCreated} />}
      {createdKey === undefined && activeCount >= quota.keys && <p className="soft small">{strings.keyLimit(quota.keys)}</p>}
      {createdKey !== undefined && <CreatedKeyView createdKey={createdKey} />}
      <ErrorMessage error={error} />
      {userKeys !== undefined && userKeys.length > 0 && <KeyList {...{ keys, userKeys }} onDeleted={onDeleted} />}
    </section>
  );
}

const defaultDays = 30;
const dayChoices = [1, 7, defaultDays, 90, 365];

interface NewKeyProps {
  readonly keys: UserKeys;
  readonly quota: KeyQuota;
  readonly onCreated: (createdKey: CreatedKey) => void;
}

/** Name and lifetime of a new key. */
function NewKey({ keys, quota: { maxDays }, onCreated }: NewKeyProps) {
  const strings = useCodeStrings();
  const [name, setName] = useState('');
  const [days, setDays] = useState(Math.min(defaultDays, maxDays));
  const { error, isRunning: isCreating, run } = useAction();
  const nameFieldId = useId();
  const daysFieldId = useId();
  const create = (event: FormEvent): void => {
    event.preventDefault();
    void run(() => keys.create({ ...(name.trim() !== '' && { name: name.trim() }), days }).then(onCreated));
  };
  return (
    <>
      <form className="new-key" onSubmit={create}>
        <label htmlFor={nameFieldId}>{strings.keyName}</label>
        <input {...{ id: nameFieldId, value: name, maxLength: 100 }} onChange={({ target }) => setName(target.value)} />
        <label htmlFor={daysFieldId}>{strings.worksFor}</label>
        <select id={daysFieldId} value={days} onChange={({ target }) => setDays(Number(target.value))}>
          {[...dayChoices.filter((count) => count < maxDays), maxDays].map((count) => (
            <option key={count} value={count}>
              {strings.days(count)}
            </option>
          ))}
        </select>
        <button type="submit" className="button primary" disabled={isCreating}>
          {strings.createKey}
        </button>
      </form>
      <ErrorMessage error={error} />
    </>
  );
}

function CreatedKeyView({ createdKey: { key } }: { readonly createdKey: CreatedKey }) {
  const strings = useCodeStrings();
  return (
    <>
      <SecretField secret={key} name={strings.newKey} copyLabel={strings.copyOwnKey} />
      <p className="soft small">{strings.copyNow}</p>
    </>
  );
}

interface KeyListProps {
  readonly keys: UserKeys;
  readonly userKeys: readonly UserKey[];
  readonly onDeleted: (id: string) => void;
}

/** The user's keys with their last use and a delete button. */
function KeyList({ keys, userKeys, onDeleted }: KeyListProps) {
  const strings = useCodeStrings();
  const { locale } = useLanguage();
  const { announce } = usePage();
  const [error, setError] = useState<ErrorDetails>();
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const remove = async (id: string): Promise<void> => {
    setError(undefined);
    await keys.delete(id).then(
      () => announce(strings.keyDeleted),
      (error: unknown) => {
        const details = toErrorDetails(error);
        if (details.code !== 'key_not_found') setError(details);
      },
    );
    onDeleted(id);
  };
  return (
    <>
      <ul className="key-list">
        {userKeys.map(({ id, name, prefix, lastUsedAt, expiresAt }) => (
          <li key={id}>
            <span>
              {name} <code>{prefix}…</code>
            </span>
            <span className="soft small">
              {lastUsedAt === null ? strings.neverUsed : strings.lastUsed(dateTime.format(lastUsedAt))}
              {' · '}
              {expiresAt > Date.now() ? strings.validUntil(date.format(expiresAt)) : strings.expired(date.format(expiresAt))}
            </span>
            <button
              {...{ type: 'button', className: 'button slim', 'aria-label': strings.deleteKeyNamed(name || prefix) }}
              onClick={() => void remove(id)}
            >
              {strings.deleteKey}
            </button>
          </li>
        ))}
      </ul>
      <ErrorMessage error={error} />
    </>
  );
}
