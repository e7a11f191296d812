import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Chunk, Completion } from '#contract/chunk.ts';
import { Accumulator } from '#contract/accumulate.ts';
import type { Upstream } from '#domain/upstream.ts';
