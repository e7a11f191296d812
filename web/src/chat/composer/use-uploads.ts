import { useEffect, useMemo, useRef, useState } from 'react';
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

export interface UploadsState {
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
