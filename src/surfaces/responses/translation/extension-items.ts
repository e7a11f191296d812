import type { Control, ResponseAttachment, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { AttachmentItem, ControlItem, StageItem } from '#contract/responses/output-items.ts';
import { includables } from '#contract/responses/responses-request.ts';
import type { Output } from './output.ts';

const maxChars = 16 * 1024 * 1024;

interface OpenStage {
  readonly folded: Accumulator;
  readonly id: string;
  readonly close: (done: StageItem) => void;
}

/** Converts content apart from the text to separate items, if the client includes them (docs/responses.md). */
export class ExtensionItems {
  readonly #output: Output;
  readonly #included: ReadonlySet<string>;
  readonly #stages = new Map<number, OpenStage>();
  readonly #rest = new Accumulator();
  #hasRest = false;
  #chars = 0;

  constructor(output: Output, included: ReadonlySet<string>) {
    this.#output = output;
    this.#included = included;
  }

  add({ stages = [], attachments = [], controls = [] }: ResponseCustomContent): void {
    if (this.#included.has(includables.stages)) for (const stage of stages) this.#addToStage(stage);
    const itemInput = {
      ...(attachments.length > 0 && this.#included.has(includables.attachments) && { attachments }),
      ...(controls.length > 0 && this.#included.has(includables.controls) && { controls }),
    };
    if (Object.keys(itemInput).length === 0) return;
    this.#chars += JSON.stringify(itemInput).length;
    if (this.#chars > maxChars) return;
    this.#hasRest = true;
    this.#rest.add(toChunk(itemInput));
  }

  /** Closes open stages and adds attachments and controls. */
  end(): void {
    for (const [index, stage] of this.#stages) this.#closeStage(index, stage, 'incomplete');
    if (!this.#hasRest) return;
    const { attachments = [], controls = [] } = this.#rest.completion().choices[0]?.message.custom_content ?? {};
    for (const attachment of attachments) this.#output.put(toAttachmentItem(attachment, this.#output.newId('pa')));
    for (const control of controls) this.#output.put(toControlItem(control, this.#output.newId('pc')));
  }

  #addToStage(delta: StageDelta): void {
    const stage = this.#stages.get(delta.index) ?? this.#openStage(delta);
    stage.folded.add(toChunk({ stages: [{ ...delta, index: 0 }] }));
    if (delta.status) this.#closeStage(delta.index, stage, delta.status);
  }

  #openStage({ index, name = '' }: StageDelta): OpenStage {
    const id = this.#output.newId('ps');
    const item: StageItem = { type: 'parley:stage', id, status: 'in_progress', name, content: '', attachments: [] };
    const stage = { folded: new Accumulator(), id, close: this.#output.open(item) };
    this.#stages.set(index, stage);
    return stage;
  }

  #closeStage(index: number, { folded, id, close }: OpenStage, status: StageItem['status']): void {
    this.#stages.delete(index);
    const [stage] = folded.completion().choices[0]?.message.custom_content?.stages ?? [];
    const { name = '', content = '', attachments = [] } = stage ?? {};
    const visibleAttachments = attachments.map((attachment) => {
      const { type: _type, id: _id, status: _status, ...fields } = toAttachmentItem(attachment, '');
      return fields;
    });
    close({ type: 'parley:stage', id, status, name, content, attachments: visibleAttachments });
  }
}

function toChunk(custom: ResponseCustomContent) {
  const choices = [{ index: 0, delta: { custom_content: custom }, finish_reason: null }];
  return { id: '', object: 'chat.completion.chunk' as const, created: 0, choices };
}

function toAttachmentItem({ index: _index, type, ...fields }: ResponseAttachment, id: string): AttachmentItem {
  return { type: 'parley:attachment', id, status: 'completed', ...(type !== undefined && { content_type: type }), ...fields };
}

function toControlItem({ label, schema }: Control, id: string): ControlItem {
  return {
    type: 'parley:control',
    id,
    status: 'completed',
    label,
    ...(schema && { schema: schema as { [key: string]: unknown } }),
  };
}
