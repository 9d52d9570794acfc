// The raw limits of the benchmark: what they refuse, and what they count.
#include <cerrno>

#include "bench/native/commands.h"
#include "bench/native/messages.h"
#include "check.h"
#include "netlink/message_builder.h"

namespace {

using knp::bench::Cost;
using knp::bench::PreparedCommands;
using knp::bench::PreparedMessages;
using knp::netlink::Status;

constexpr size_t kDatagram = 8192;

Status Prepared(std::vector<uint8_t> messages) {
  PreparedMessages prepared;
  return prepared.Prepare(0, std::move(messages), 1, kDatagram);
}

std::vector<uint8_t> MessageOfLength(uint8_t length, size_t size) {
  std::vector<uint8_t> message(size, 0);
  if (size > 0) message[0] = length;
  return message;
}

}  // namespace

TEST(PreparedMessagesWithAWrongLengthAreRefused) {
  CHECK(Prepared(MessageOfLength(0, 16)).is_errno(EINVAL));
  CHECK(Prepared(MessageOfLength(15, 16)).is_errno(EINVAL));
  // Shorter than its header, and than its length.
  CHECK(Prepared(MessageOfLength(16, 12)).is_errno(EINVAL));
  CHECK(Prepared(MessageOfLength(20, 16)).is_errno(EINVAL));
  // The padding of the last one is missing.
  CHECK(Prepared(MessageOfLength(17, 17)).is_errno(EINVAL));
  std::vector<uint8_t> second = MessageOfLength(16, 20);
  const Status status = Prepared(second);
  CHECK(status.is_errno(EINVAL));
  CHECK_EQUAL(status.message, "message 2 has a wrong length");
}

TEST(PreparedCommandsRunInOrderWithTheirInput) {
  PreparedCommands commands;
  const std::string script = "test \"$(cat)\" = words";
  const std::string text = "words";
  CHECK(commands.Prepare({{"sh", "-c", script}, {"sh", "-c", script}}, {text.begin(), text.end()}).ok());
  Cost cost;
  CHECK(commands.Run(&cost).ok());
  CHECK_EQUAL(cost.processes, 2U);
  CHECK(cost.wall > 0);
}

TEST(ACommandThatFailsIsNamedWithItsWords) {
  PreparedCommands commands;
  CHECK(commands.Prepare({{"true"}, {"sh", "-c", "echo no >&2; exit 3"}, {"true"}}, {}).ok());
  Cost cost;
  const Status status = commands.Run(&cost);
  CHECK(status.is_errno(EIO));
  CHECK_EQUAL(status.message, "sh -c echo no >&2; exit 3 ended with status 3: no\n");
  CHECK_EQUAL(cost.processes, 2U);
}

TEST(AMissingProgramIsNamed) {
  PreparedCommands commands;
  CHECK(commands.Prepare({{"/nowhere/tool"}}, {}).ok());
  Cost cost;
  const Status status = commands.Run(&cost);
  CHECK(status.is_errno(ENOENT));
  CHECK_EQUAL(status.message, "cannot run /nowhere/tool");
  CHECK(PreparedCommands().Prepare({{}}, {}).is_errno(EINVAL));
}
