/* Reads one HTTP reply piece by piece and checks it: a JSON completion or an event stream. */
#ifndef REPLY_H
#define REPLY_H

#include "http-bytes.h"

#define REPLY_HEAD_MAX 8192
#define REPLY_KEPT_MAX 8192
#define REPLY_LINE_MAX 4096

enum reply_state { REPLY_HEAD, REPLY_BODY, REPLY_WHOLE };
enum body_coding { BODY_LENGTH, BODY_CHUNKED, BODY_UNTIL_CLOSE };

struct reply {
  enum reply_state state;
  enum body_coding coding;
  int status, is_stream, closes;
  size_t head_size, body_left, body_size;
  struct chunked chunked;
  int events, done;         /* lines that start with data:, and whether the last one was an end mark of a dialect */
  uint64_t first_event_ns;  /* time at which the first event line was complete */
  size_t kept_size;         /* JSON: the body; stream: the unfinished line */
  char head[REPLY_HEAD_MAX];
  char kept[REPLY_KEPT_MAX];
};

/* Called for each chunk with "@t=". The argument is the monotonic nanosecond at which the chunk was written. */
typedef void (*on_stamp)(uint64_t sent_ns, uint64_t seen_ns);

static inline void reply_reset(struct reply *r) {
  memset(r, 0, offsetof(struct reply, head));
}

static inline int begins_with(const char *at, const char *end, const char *words) {
  size_t size = strlen(words);
  return (size_t)(end - at) >= size && memcmp(at, words, size) == 0;
}

static inline void take_line(struct reply *r, const char *line, size_t size, uint64_t now, on_stamp stamp) {
  if (size < 5 || memcmp(line, "data:", 5) != 0) return;
  const char *value = line + 5, *end = line + size;
  while (value < end && *value == ' ') value++;
  if (r->events == 0) r->first_event_ns = now;
  r->done = begins_with(value, end, "[DONE]") || begins_with(value, end, "{\"type\":\"message_stop\"");
  if (r->done) return;
  r->events++;
  const char *mark = memmem(value, (size_t)(end - value), "@t=", 3);
  if (mark && end - mark > 23 && stamp) {
    uint64_t sent = 0;
    for (int i = 3; i < 23; i++) sent = sent * 10 + (uint64_t)(mark[i] - '0');
    if (sent) stamp(sent, now);
  }
}

static inline void take_body(struct reply *r, const char *at, size_t size, uint64_t now, on_stamp stamp) {
  r->body_size += size;
  if (!r->is_stream) {
    size_t room = REPLY_KEPT_MAX - r->kept_size;
    memcpy(r->kept + r->kept_size, at, size < room ? size : room);
    r->kept_size += size < room ? size : room;
    return;
  }
  const char *end = at + size, *newline;
  while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
    size_t part = (size_t)(newline - at);
    if (r->kept_size) {
      size_t fits = part < REPLY_LINE_MAX - r->kept_size ? part : REPLY_LINE_MAX - r->kept_size;
      memcpy(r->kept + r->kept_size, at, fits);
      take_line(r, r->kept, r->kept_size + fits, now, stamp);
      r->kept_size = 0;
    } else take_line(r, at, part, now, stamp);
    at = newline + 1;
  }
  size_t rest = (size_t)(end - at), fits = REPLY_LINE_MAX - r->kept_size;
  memcpy(r->kept + r->kept_size, at, rest < fits ? rest : fits);
  r->kept_size += rest < fits ? rest : fits;
}

static inline void take_head(struct reply *r) {
  const char *length = header_value(r->head, r->head_size, "content-length:");
  const char *coding = header_value(r->head, r->head_size, "transfer-encoding:");
  const char *type = header_value(r->head, r->head_size, "content-type:");
  const char *connection = header_value(r->head, r->head_size, "connection:");
  r->status = r->head_size > 12 ? atoi(r->head + 9) : 0;
  r->is_stream = type && strncasecmp(type, "text/event-stream", 17) == 0;
  r->closes = connection && strncasecmp(connection, "close", 5) == 0;
  r->coding = coding && strncasecmp(coding, "chunked", 7) == 0 ? BODY_CHUNKED : length ? BODY_LENGTH : BODY_UNTIL_CLOSE;
  r->body_left = length ? strtoull(length, NULL, 10) : 0;
  r->state = r->coding == BODY_LENGTH && r->body_left == 0 ? REPLY_WHOLE : REPLY_BODY;
}

/* Feeds bytes. Returns 1 while they are valid, 0 if they are not an HTTP reply. Bytes after a complete reply are an error too. */
static inline int reply_feed(struct reply *r, const char *at, const char *end, uint64_t now, on_stamp stamp) {
  if (r->state == REPLY_HEAD) {
    size_t before = r->head_size, size = (size_t)(end - at);
    if (size > REPLY_HEAD_MAX - before) size = REPLY_HEAD_MAX - before;
    memcpy(r->head + before, at, size);
    size_t from = before > 3 ? before - 3 : 0;
    char *blank = memmem(r->head + from, before + size - from, "\r\n\r\n", 4);
    if (!blank) {
      r->head_size = before + size;
      return r->head_size < REPLY_HEAD_MAX;
    }
    r->head_size = (size_t)(blank + 4 - r->head);
    at += r->head_size - before;
    take_head(r);
  }
  if (r->state == REPLY_WHOLE || at == end) return at == end;
  if (r->coding == BODY_CHUNKED) {
    const char *span;
    size_t size;
    enum chunk_result result;
    while ((result = next_chunk_span(&r->chunked, &at, end, &span, &size)) == CHUNK_SPAN) take_body(r, span, size, now, stamp);
    if (result == CHUNK_END) r->state = REPLY_WHOLE;
    return result != CHUNK_BAD && at == end;
  }
  size_t size = (size_t)(end - at);
  if (r->coding == BODY_LENGTH) {
    if (size > r->body_left) return 0;
    r->body_left -= size;
  }
  take_body(r, at, size, now, stamp);
  if (r->coding == BODY_LENGTH && r->body_left == 0) r->state = REPLY_WHOLE;
  return 1;
}

/* Returns why a complete reply is not the requested one, or NULL. `events` is the minimum number of events of a stream. */
static inline const char *reply_fault(const struct reply *r, int wants_stream, int events) {
  if (r->status != 200) return "status is not 200";
  if (r->is_stream != wants_stream) return wants_stream ? "no event stream came" : "an event stream came";
  if (wants_stream) return !r->done ? "stream did not come to its end mark" : r->events < events ? "stream lacks events" : NULL;
  size_t size = r->kept_size;
  while (size && (r->kept[size - 1] == '\n' || r->kept[size - 1] == ' ')) size--;
  if (size == 0 || r->kept[0] != '{' || r->kept[size - 1] != '}') return "body is not whole";
  if (!memmem(r->kept, size, "benchmark words in a reply", 26)) return "body lacks the upstream's words";
  return memmem(r->kept, size, "\"usage\"", 7) ? NULL : "body lacks usage";
}

#endif
