import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { Attachment } from '#contract/chat/message.ts';
import { usePage } from '../../page/page.tsx';
import { attachFile } from '../../service/attach-file.ts';
import { type Fault, faultOf } from '../../service/fault.ts';

/** A file on its way into the next message. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly share: number;
  readonly attachment?: Attachment;
  readonly fault?: Fault;
}

interface UploadsState {
  readonly uploads: readonly Upload[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (id: string) => void;
  readonly clear: () => void;
  /** Takes in what was attached before. */
  readonly restore: (attachments: readonly Attachment[]) => void;
  readonly isUploading: boolean;
  readonly ready: readonly Attachment[];
}

/** The files of the message that is being written. */
export function useUploads(): UploadsState {
  const { service, isTemporary = false } = usePage();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const each of all.values()) each.abort();
    };
  }, []);
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const id = crypto.randomUUID();
      const leaving = new AbortController();
      const change = (part: Partial<Upload>): void => {
        if (!leaving.signal.aborted) setUploads((now) => now.map((each) => (each.id === id ? { ...each, ...part } : each)));
      };
      running.current.set(id, leaving);
      setUploads((now) => [...now, { id, name: file.name, share: 0 }]);
      attachFile(service, file, { onProgress: (share) => change({ share }), signal: leaving.signal, isTemporary }).then(
        (attachment) => change({ attachment, share: 1 }),
        (thrown: unknown) => change({ fault: faultOf(thrown) }),
      );
    }
  };
  const remove = (id: string): void => {
    running.current.get(id)?.abort();
    running.current.delete(id);
    setUploads((now) => now.filter((each) => each.id !== id));
  };
  const restore = (attachments: readonly Attachment[]): void => {
    const again = attachments.map((attachment) => ({
      ...{ id: crypto.randomUUID(), name: attachment.title ?? '', share: 1, attachment },
    }));
    setUploads((now) => [...again, ...now]);
  };
  const ready = useMemo(() => uploads.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment])), [uploads]);
  const isUploading = uploads.some(({ attachment, fault }) => attachment === undefined && fault === undefined);
  return { uploads, add, remove, clear: () => setUploads([]), restore, isUploading, ready };
}

/** Takes files that are dropped anywhere on the page where nothing else takes them. True while some are held over it. */
export function useFileDrop(add: (files: Iterable<File>) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const take = useEffectEvent(add);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      setIsOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent): void => {
      setIsOver(false);
      if (event.defaultPrevented || event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      take(event.dataTransfer.files);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  return isOver;
}
