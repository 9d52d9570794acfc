// Feeds malformed replies to everything that reads replies. Built with AddressSanitizer and UBSan, both set
// to abort on the first finding: the exit status is the result.
//
//   knp_fuzz --seed N --count N FILE…      FILE: a captured datagram
//   knp_fuzz --self-test read|arithmetic   must be aborted by AddressSanitizer, by UBSan
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/mutate.h"
#include "fuzz/readers.h"
#include "netlink/message_reader.h"

namespace {

using knp::fuzz::Bytes;
using knp::fuzz::kReaderCount;
using knp::fuzz::kReaders;
using knp::netlink::Message;
using knp::netlink::MessageReader;

struct Options {
  uint64_t seed = 0;
  uint64_t count = 0;
  std::string self_test;
  std::vector<std::string> files;
};

struct Tally {
  uint64_t messages = 0;
  uint64_t cut_short = 0;  // datagrams that end in something that is not a message
  std::vector<uint64_t> accepted = std::vector<uint64_t>(kReaderCount);
};

// Memory of exactly this size, so that AddressSanitizer sees a read of the first byte behind it.
std::unique_ptr<uint8_t[]> CopyExactly(const uint8_t* data, size_t size) {
  std::unique_ptr<uint8_t[]> copy(new uint8_t[size]);
  if (size > 0) std::memcpy(copy.get(), data, size);
  return copy;
}

// Every message goes to every reader: the bytes that select the reader of a reply may be wrong, too.
void Feed(const Bytes& datagram, Tally* tally) {
  const auto whole = CopyExactly(datagram.data(), datagram.size());
  MessageReader messages(whole.get(), datagram.size());
  Message message;
  while (messages.Next(&message)) {
    const auto payload = CopyExactly(message.payload, message.size);
    message.payload = payload.get();
    tally->messages++;
    for (size_t i = 0; i < kReaderCount; i++) {
      if (kReaders[i].read(message)) tally->accepted[i]++;
    }
  }
  if (messages.malformed()) tally->cut_short++;
}

int Fuzz(const Options& options) {
  std::vector<Bytes> captures;
  for (const std::string& path : options.files) {
    std::ifstream file(path, std::ios::binary);
    captures.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (knp::fuzz::FindElements(captures.back()).empty()) {
      std::fprintf(stderr, "knp_fuzz: %s cannot be read, or is not a capture\n", path.c_str());
      return 2;
    }
  }
  std::printf("seed %" PRIu64 ", %zu captures\n", options.seed, captures.size());
  std::fflush(stdout);  // printed even if the program is aborted
  knp::fuzz::Dice dice(options.seed);
  Tally tally;
  for (uint64_t i = 0; i < options.count; i++) {
    const Bytes& original = captures[i % captures.size()];
    const Bytes& donor = captures[dice.Throw(captures.size())];
    Feed(knp::fuzz::Mutate(original, donor, &dice), &tally);
  }
  std::printf("%" PRIu64 " malformed replies: %" PRIu64 " messages read, %" PRIu64 " replies cut short\n",
              options.count, tally.messages, tally.cut_short);
  for (size_t i = 0; i < kReaderCount; i++) {
    std::printf("%s: %" PRIu64 " accepted, %" PRIu64 " refused\n", kReaders[i].name, tally.accepted[i],
                tally.messages - tally.accepted[i]);
  }
  return 0;
}

// Faults of the kind that is looked for, to show that they are found. The numbers are made at run time.
int TestSelf(const std::string& which, int one) {
  if (which == "read") {
    const auto memory = CopyExactly(reinterpret_cast<const uint8_t*>("four"), 4);
    std::printf("read %d\n", memory[3 + static_cast<size_t>(one)]);
  } else {
    std::printf("sum %d\n", INT_MAX - 1 + one + one);
  }
  return 0;
}

bool Parse(int argc, char** argv, Options* out) {
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--seed" && has_value) {
      out->seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--count" && has_value) {
      out->count = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--self-test" && has_value) {
      out->self_test = argv[++i];
    } else {
      out->files.push_back(argument);
    }
  }
  return !out->self_test.empty() || (out->count > 0 && !out->files.empty());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: knp_fuzz --seed N --count N FILE…\n       knp_fuzz --self-test read|arithmetic\n");
    return 2;
  }
  return options.self_test.empty() ? Fuzz(options) : TestSelf(options.self_test, argc > 0 ? 1 : 0);
}
