/* HTTP/1.1 helpers of both ends of the harness: header lookup, chunked coding, clocks, and sockets. */
#ifndef HTTP_BYTES_H
#define HTTP_BYTES_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull

static inline uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Waits for events until the monotonic time `due`. UINT64_MAX waits without a time limit. */
static inline int wait_until(int epoll, struct epoll_event *events, int room, uint64_t due) {
  if (due == UINT64_MAX) return epoll_wait(epoll, events, room, -1);
  uint64_t now = now_ns(), left = due > now ? due - now : 0;
  struct timespec t = {.tv_sec = (time_t)(left / SECOND), .tv_nsec = (long)(left % SECOND)};
  return epoll_pwait2(epoll, events, room, &t, NULL);
}

/* Raises the file limit to its hard limit and requests exact timers. */
static inline void prepare_process(void) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

static inline void set_no_delay(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static inline struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* Returns the value of a header within a header section that ends in an empty line, or NULL. `name` includes the colon. */
static inline const char *header_value(const char *head, size_t size, const char *name) {
  size_t length = strlen(name);
  const char *end = head + size, *line = memchr(head, '\n', size);
  while (line && (size_t)(end - line - 1) > length) {
    line++;
    if (strncasecmp(line, name, length) == 0) {
      const char *value = line + length;
      while (value < end && (*value == ' ' || *value == '\t')) value++;
      return value;
    }
    line = memchr(line, '\n', (size_t)(end - line));
  }
  return NULL;
}

enum chunk_state { CHUNK_SIZE, CHUNK_SIZE_REST, CHUNK_DATA, CHUNK_DATA_END, CHUNK_TRAILER, CHUNK_DONE };
enum chunk_result { CHUNK_MORE, CHUNK_SPAN, CHUNK_END, CHUNK_BAD };

struct chunked {
  enum chunk_state state;
  uint64_t left;
  int digits, trailer_bytes;
};

static inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Consumes the next span of body bytes from [*at, end). The caller repeats it until it returns MORE, END, or BAD. */
static inline enum chunk_result next_chunk_span(struct chunked *c, const char **at, const char *end, const char **span,
                                                size_t *size) {
  while (*at < end) {
    char byte = **at;
    switch (c->state) {
      case CHUNK_SIZE: {
        int digit = hex_digit(byte);
        if (digit >= 0 && c->digits < 15) {
          c->left = c->left * 16 + (uint64_t)digit;
          c->digits++;
          ++*at;
          break;
        }
        if (c->digits == 0) return CHUNK_BAD;
        c->state = CHUNK_SIZE_REST;
      } /* fall through */
      case CHUNK_SIZE_REST:
        ++*at;
        if (byte != '\n') break;
        c->digits = 0;
        c->trailer_bytes = 0;
        c->state = c->left ? CHUNK_DATA : CHUNK_TRAILER;
        break;
      case CHUNK_DATA: {
        size_t there = (size_t)(end - *at);
        *size = there < c->left ? there : (size_t)c->left;
        *span = *at;
        *at += *size;
        c->left -= *size;
        if (c->left == 0) c->state = CHUNK_DATA_END;
        return CHUNK_SPAN;
      }
      case CHUNK_DATA_END:
        ++*at;
        if (byte == '\n') c->state = CHUNK_SIZE;
        else if (byte != '\r') return CHUNK_BAD;
        break;
      case CHUNK_TRAILER:
        ++*at;
        if (byte == '\n') {
          if (c->trailer_bytes == 0) {
            c->state = CHUNK_DONE;
            return CHUNK_END;
          }
          c->trailer_bytes = 0;
        } else if (byte != '\r') c->trailer_bytes++;
        break;
      case CHUNK_DONE:
        return CHUNK_END;
    }
  }
  return CHUNK_MORE;
}

#endif
