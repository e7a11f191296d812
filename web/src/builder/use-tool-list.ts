import { useEffect, useRef, useState } from 'react';
import type { JsonObject } from '#base/json.ts';
import { usePage } from '../page/page.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { listTools, type ToolList } from './tool-list.ts';

interface Asked {
  /** What was asked, as text: another server has other tools. */
  readonly of: string;
  readonly list: ToolList | undefined;
  readonly fault: Fault | undefined;
}

/** What a server offers, once it was asked. */
export interface AskedTools {
  readonly isAsking: boolean;
  readonly list: ToolList | undefined;
  readonly fault: Fault | undefined;
  readonly ask: () => void;
}

/** Asks a server for its tools when told to; what it said is forgotten once its settings are others. */
export function useToolList(toolset: JsonObject, application: string | undefined): AskedTools {
  const { service } = usePage();
  const [asked, setAsked] = useState<Asked>();
  const [isAsking, setIsAsking] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const { allowed_tools: _ticks, ...server } = toolset;
  const of = JSON.stringify(server);
  const ask = (): void => {
    leaving.current?.abort();
    const controller = new AbortController();
    leaving.current = controller;
    const tell = (told: Pick<Asked, 'list' | 'fault'>): void => {
      if (controller.signal.aborted) return;
      setAsked({ of, ...told });
      setIsAsking(false);
    };
    setIsAsking(true);
    // One that has no name yet may be asked as well.
    listTools(service, { toolset: { ...server, name: server.name || 'MCP' }, application, signal: controller.signal }).then(
      (list) => tell({ list, fault: undefined }),
      (thrown: unknown) => tell({ list: undefined, fault: faultOf(thrown) }),
    );
  };
  const isOfThis = asked?.of === of;
  return { isAsking, list: isOfThis ? asked.list : undefined, fault: isOfThis ? asked.fault : undefined, ask };
}
