import type { ColumnTypes } from '../engine/column-types.ts';

export interface ResponseSchema {
  readonly responses: ResponseRow;
  readonly response_items: ResponseItemRow;
  readonly response_events: ResponseEventRow;
  readonly conversations: ConversationRow;
  readonly conversation_items: ConversationItemRow;
  readonly stored_bytes: StoredBytesRow;
}

export interface ResponseRow {
  readonly id: string;
  readonly subject: string;
  readonly status: string;
  /** 0 for a response, 1 for a background response, and 2 for a chat run. */
  readonly is_background: number;
  /** The node that answers it. Empty while any node may claim it. Null after the end. */
  readonly owner: string | null;
  readonly previous_id: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** Size of the sealed content. After the end, includes the events. */
  readonly bytes: number;
  /** JSON array. */
  readonly item_ids: string;
  /** JSON of the response, its input, and its state, sealed for the row's id. */
  readonly sealed_content: string;
  /** JSON, sealed for the row's id. Null unless another node may have to answer. */
  readonly sealed_run: string | null;
}

/** Maps items to responses. Maintained by triggers. */
interface ResponseItemRow {
  readonly id: string;
  readonly response: string;
}

/** Consecutive events of a run. They are deleted with the response. */
interface ResponseEventRow {
  readonly response: string;
  /** Numbers of the first and the last event. */
  readonly first: number;
  readonly last: number;
  /** JSON array, sealed for the response and the first number. */
  readonly sealed_events: string;
}

export interface ConversationRow {
  readonly id: string;
  readonly subject: string;
  readonly created_at_ms: number;
  /** JSON, sealed for the row's id. */
  readonly sealed_metadata: string;
  /** Number of the next item. */
  readonly next_nth: number;
  /** Size of the items and the initial metadata. */
  readonly bytes: number;
  /** The run that holds the conversation, and its node. */
  readonly run: string | null;
  readonly run_owner: string | null;
}

export interface ConversationItemRow {
  readonly conversation: string;
  readonly nth: number;
  readonly id: string;
  /** JSON, sealed for the conversation and the number. */
  readonly sealed_item: string;
  readonly bytes: number;
  /** 1 for items that are part of the conversation but never listed. */
  readonly is_hidden: number;
}

/** Stored bytes of a user. Maintained by triggers. */
interface StoredBytesRow {
  readonly subject: string;
  readonly used_bytes: number;
}

/**
 * Creates the tables of responses and conversations. Triggers map items to responses and count the stored bytes of users. Storing a response
 * is therefore a single statement, and the counts are always consistent.
 */
export function createResponseTables({ key, engine }: ColumnTypes): readonly string[] {
  return [
    `create table responses (
      id ${key} not null primary key,
      subject ${key} not null,
      status text not null,
      is_background integer not null,
      owner ${key},
      previous_id ${key},
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      bytes bigint not null,
      item_ids text not null,
      sealed_content text not null,
      sealed_run text
    )`,
    'create index responses_of_subject on responses (subject, created_at_ms)',
    'create index responses_in_time on responses (expires_at_ms)',
    'create index responses_under_way on responses (owner, created_at_ms) where owner is not null',
    'create index responses_gone_on_from on responses (previous_id) where previous_id is not null',
    `create table response_items (
      id ${key} not null,
      response ${key} not null,
      primary key (id, response)
    )`,
    `create table response_events (
      response ${key} not null references responses (id) on delete cascade,
      first bigint not null,
      last bigint not null,
      sealed_events text not null,
      primary key (response, first)
    )`,
    `create table conversations (
      id ${key} not null primary key,
      subject ${key} not null,
      created_at_ms bigint not null,
      sealed_metadata text not null,
      next_nth bigint not null,
      bytes bigint not null,
      run ${key},
      run_owner ${key}
    )`,
    `create table conversation_items (
      conversation ${key} not null references conversations (id) on delete cascade,
      nth bigint not null,
      id ${key} not null,
      sealed_item text not null,
      bytes bigint not null,
      is_hidden integer not null,
      primary key (conversation, nth)
    )`,
    'create unique index conversation_items_by_id on conversation_items (id, conversation)',
    `create table stored_bytes (
      subject ${key} not null primary key,
      used_bytes bigint not null
    )`,
    ...triggers[engine](),
  ];
}

const countedTables = ['responses', 'conversations'] as const;
const addBytes = (bytes: string): string =>
  `insert into stored_bytes (subject, used_bytes) values (new.subject, ${bytes})
    on conflict (subject) do update set used_bytes = stored_bytes.used_bytes + excluded.used_bytes;`;
const subtractBytes = 'update stored_bytes set used_bytes = used_bytes - old.bytes where subject = old.subject;';

const triggers: Readonly<Record<ColumnTypes['engine'], () => readonly string[]>> = {
  sqlite: () => {
    const addItems = 'insert or ignore into response_items (id, response) select value, new.id from json_each(new.item_ids);';
    const dropItems = 'delete from response_items where response = old.id and id in (select value from json_each(old.item_ids));';
    return [
      ...countedTables.flatMap((table) => [
        `create trigger ${table}_added after insert on ${table} begin ${addBytes('new.bytes')} end`,
        `create trigger ${table}_changed after update of bytes on ${table} begin ${addBytes('new.bytes - old.bytes')} end`,
        `create trigger ${table}_dropped after delete on ${table} begin ${subtractBytes} end`,
      ]),
      `create trigger response_items_added after insert on responses begin ${addItems} end`,
      `create trigger response_items_changed after update of item_ids on responses begin ${addItems} end`,
      `create trigger response_items_dropped after delete on responses begin ${dropItems} end`,
    ];
  },
  postgres: () => {
    const addItems = `insert into response_items (id, response)
      select distinct value, new.id from json_array_elements_text(new.item_ids::json) as value on conflict do nothing;`;
    const dropItems = `delete from response_items
      where response = old.id and id in (select value from json_array_elements_text(old.item_ids::json) as value);`;
    return [
      buildTriggerFunction('stored_bytes_added', addBytes('new.bytes')),
      buildTriggerFunction('stored_bytes_changed', addBytes('new.bytes - old.bytes')),
      buildTriggerFunction('stored_bytes_dropped', subtractBytes),
      buildTriggerFunction('response_items_added', addItems),
      buildTriggerFunction('response_items_dropped', dropItems),
      ...countedTables.flatMap((table) => [
        `create trigger ${table}_added after insert on ${table} for each row execute function stored_bytes_added()`,
        `create trigger ${table}_changed after update of bytes on ${table} for each row execute function stored_bytes_changed()`,
        `create trigger ${table}_dropped after delete on ${table} for each row execute function stored_bytes_dropped()`,
      ]),
      'create trigger response_items_added after insert on responses for each row execute function response_items_added()',
      'create trigger response_items_changed after update of item_ids on responses for each row execute function response_items_added()',
      'create trigger response_items_dropped after delete on responses for each row execute function response_items_dropped()',
    ];
  },
};

function buildTriggerFunction(name: string, body: string): string {
  return `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`;
}
