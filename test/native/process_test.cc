// Programs: how they are found and started, and the ends of their runs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "check.h"
#include "process/reading.h"
#include "process/run.h"
#include "process/session.h"

namespace {

using knp::netlink::FailureKind;
using knp::netlink::Status;
using knp::process::Answer;
using knp::process::Command;
using knp::process::End;
using knp::process::Environment;
using knp::process::Input;
using knp::process::Killed;
using knp::process::kPipe;
using knp::process::Limits;
using knp::process::Piece;
using knp::process::Reading;
using knp::process::Run;
using knp::process::Session;

constexpr std::chrono::milliseconds kLong{20'000};
constexpr size_t kMostOutput = 1000;

Environment Path(const std::string& folders) {
  return Environment({"PATHS=no", "PATH=" + folders, "A=b"});
}

// The text as an input, in pieces of this size.
Input InputOf(const std::string& text, size_t size = 1000) {
  Input input;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t start = 0; start < text.size(); start += size) {
    input.push_back({bytes + start, std::min(size, text.size() - start)});
  }
  return input;
}

// Runs a script.
Status Shell(const std::string& script, End* end, Limits limits = {kLong, kMostOutput},
             const std::string& input = {}) {
  const Environment environment = Path("/usr/bin:/bin");
  Command command;
  Status status = command.Prepare({"sh", "-c", script}, environment);
  Run run;
  return status.ok() ? run.Execute(command, environment, InputOf(input), limits, end) : status;
}

// A script that reads its input for long.
class Reader {
 public:
  explicit Reader(const std::string& script) : session_(CommandOf(script), Path("/usr/bin:/bin")) {}

  Status Exchange(const std::string& piece, const std::string& acknowledgement, Answer* answer,
                  Limits limits = {kLong, kMostOutput}) {
    return session_.Exchange(InputOf(piece), acknowledgement, limits, answer);
  }

  Session* operator->() { return &session_; }

 private:
  static Command CommandOf(const std::string& script) {
    Command command;
    CHECK(command.Prepare({"sh", "-c", script}, Path("/usr/bin:/bin")).ok());
    return command;
  }

  Session session_;
};

// The output of a script, to be read piece by piece.
std::unique_ptr<Reading> OutputOf(const std::string& script) {
  Command command;
  CHECK(command.Prepare({"sh", "-c", script}, Path("/usr/bin:/bin")).ok());
  return std::make_unique<Reading>(std::move(command), Path("/usr/bin:/bin"));
}

// Whether this process has children, ended or not.
bool HasChildren() {
  return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

}  // namespace

TEST(AProgramHasItsInputArgumentsAndEnvironment) {
  End end;
  CHECK(Shell("cat; echo $A; echo bad >&2; exit 3", &end, {kLong, kMostOutput}, "input ").ok());
  CHECK_EQUAL(end.output, "input b\n");
  CHECK_EQUAL(end.errors, "bad\n");
  CHECK(WIFEXITED(end.status));
  CHECK_EQUAL(WEXITSTATUS(end.status), 3);
  CHECK(end.killed == Killed::kNot);
  CHECK(!HasChildren());
}

TEST(AProgramWithoutInputReadsNothing) {
  End end;
  CHECK(Shell("cat; kill -TERM $$", &end).ok());
  CHECK_EQUAL(end.output, "");
  CHECK(WIFSIGNALED(end.status));
  CHECK_EQUAL(WTERMSIG(end.status), SIGTERM);
}

TEST(AProgramHasDefaultSignals) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  sigset_t blocked{};
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigset_t mask{};
  pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  End end;
  CHECK(Shell("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2", &end).ok());
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  signal(SIGPIPE, before);
  // The C library has the signals between SIGSYS and SIGRTMIN, and ignores some of them.
  const unsigned long standard = (1UL << (SIGSYS)) - 1;
  size_t second = 0;
  CHECK_EQUAL(std::stoul(end.output, &second, 16), 0U);
  CHECK_EQUAL(std::stoul(end.output.substr(second), nullptr, 16) & standard, 0U);
}

TEST(AProgramHasNoDescriptorsOfItsStarter) {
  const int held = open("/dev/null", O_RDONLY | O_CLOEXEC);
  // Those that the tests themselves were started with.
  int inherited = 0;
  for (int fd = 0; fd < 1024; fd++) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited++;
  }
  End end;
  CHECK(Shell("ls /proc/self/fd | wc -l", &end, {kLong, kMostOutput}, "input").ok());
  // And the folder that ls reads.
  CHECK_EQUAL(std::stoi(end.output), inherited + 1);
  close(held);
}

TEST(AProgramThatTakesTooLongIsEnded) {
  // The second has closed its output.
  for (const char* script : {"echo some; sleep 60", "exec >&- 2>&-; sleep 60"}) {
    End end;
    CHECK(Shell(script, &end, {std::chrono::milliseconds(100), kMostOutput}).ok());
    CHECK(end.killed == Killed::kLate);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
  }
  CHECK(!HasChildren());
}

TEST(AProgramThatWritesTooMuchIsEnded) {
  for (const char* script : {"yes", "yes >&2"}) {
    End end;
    CHECK(Shell(script, &end).ok());
    CHECK(end.killed == Killed::kTooLong);
  }
  End end;
  CHECK(Shell("head -c 1000 /dev/zero", &end).ok());
  CHECK(end.killed == Killed::kNot);
  CHECK_EQUAL(end.output.size(), kMostOutput);
  CHECK(!HasChildren());
}

TEST(AProgramIsEndedByAnotherThread) {
  for (const char* script : {"sleep 60", "exec >&- 2>&-; sleep 60"}) {
    const Environment environment = Path("/usr/bin:/bin");
    Command command;
    CHECK(command.Prepare({"sh", "-c", script}, environment).ok());
    Run run;
    std::thread other([&run] { run.Cancel(); });
    End end;
    CHECK(run.Execute(command, environment, {}, {kLong, kMostOutput}, &end).ok());
    other.join();
    CHECK(end.killed == Killed::kCancelled);
  }
  CHECK(!HasChildren());
}

TEST(ProgramsAreLookedUpInThePathOfTheirEnvironment) {
  char folder[] = "/tmp/knp-path-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  const std::string base = folder;
  CHECK(mkdir((base + "/a").c_str(), 0755) == 0 && mkdir((base + "/a/tool").c_str(), 0755) == 0);
  CHECK(mkdir((base + "/b").c_str(), 0755) == 0);
  const std::string file = base + "/b/tool";
  std::ofstream(file) << "#!/bin/sh\necho found\n";

  const auto prepared = [](const std::string& folders) { return Command().Prepare({"tool"}, Path(folders)); };
  // A folder is not a program, and neither is a file that nobody may run.
  CHECK(prepared(base + "/a").is_errno(EACCES));
  CHECK(prepared(base + "/a:" + base + "/b").is_errno(EACCES));
  CHECK(prepared(base + "/none:" + base).is_errno(ENOENT));
  CHECK_EQUAL(prepared("").message, "cannot run tool");
  CHECK(chmod(file.c_str(), 0755) == 0);
  const Environment environment = Path(base + "/a:" + base + "/b:/usr/bin:/bin");
  Command command;
  CHECK(command.Prepare({"tool"}, environment).ok());
  End end;
  CHECK(Run().Execute(command, environment, {}, {kLong, kMostOutput}, &end).ok());
  CHECK_EQUAL(end.output, "found\n");

  std::ofstream(file) << "echo without an interpreter\n";
  CHECK(Run().Execute(command, environment, {}, {kLong, kMostOutput}, &end).is_errno(ENOEXEC));

  unlink(file.c_str());
  for (const char* made : {"/a/tool", "/a", "/b", ""}) rmdir((base + made).c_str());
}

TEST(CommandsThatCannotBeAreRefused) {
  const Environment environment = Path("/usr/bin:/bin");
  CHECK(Command().Prepare({}, environment).is_errno(EINVAL));
  CHECK(Command().Prepare({""}, environment).is_errno(EINVAL));
  CHECK(Command().Prepare({"echo", std::string("a\0b", 3)}, environment).is_errno(EINVAL));
  Command command;
  CHECK(command.Prepare({"/nowhere/tool"}, environment).ok());
  End end;
  CHECK(Run().Execute(command, environment, {}, {kLong, kMostOutput}, &end).is_errno(ENOENT));
}

TEST(AReadingHasAllOutputInPiecesOfBoundedSize) {
  const auto reading = OutputOf("seq 1 200000; echo bad >&2; exit 3");
  std::string output;
  size_t pieces = 0;
  Piece piece;
  while (!piece.last) {
    piece = {};
    CHECK(reading->Read(1000, {kLong, kMostOutput}, &piece).ok());
    CHECK(piece.bytes.size() <= 1000 + kPipe);
    CHECK(piece.last || piece.bytes.size() > 1000);
    output += piece.bytes;
    pieces++;
  }
  CHECK(pieces > 10);
  CHECK_EQUAL(output.size(), 1'288'895U);
  CHECK_EQUAL(output.substr(output.size() - 7), "200000\n");
  CHECK_EQUAL(piece.errors, "bad\n");
  CHECK(WIFEXITED(piece.status) && WEXITSTATUS(piece.status) == 3);
  CHECK(!HasChildren());
  CHECK(reading->Read(1000, {kLong, kMostOutput}, &piece).kind == FailureKind::kClosed);
}

TEST(AReadingEndsAProgramThatExceedsALimitOrIsNotReadToItsEnd) {
  Piece piece;
  CHECK(OutputOf("echo some; sleep 60")->Read(1000, {std::chrono::milliseconds(100), 10}, &piece).ok());
  CHECK(piece.last && piece.killed == Killed::kLate);
  CHECK_EQUAL(piece.bytes, "some\n");
  piece = {};
  CHECK(OutputOf("yes >&2")->Read(1000, {kLong, kMostOutput}, &piece).ok());
  CHECK(piece.last && piece.killed == Killed::kTooLong);
  piece = {};
  const auto reading = OutputOf("yes");
  CHECK(reading->Read(1000, {kLong, kMostOutput}, &piece).ok());
  CHECK(!piece.last);
  CHECK(HasChildren());
  reading->Close();
  CHECK(!HasChildren());
  CHECK(reading->Read(1000, {kLong, kMostOutput}, &piece).kind == FailureKind::kClosed);
  // Its destructor ends it too.
  CHECK(OutputOf("yes")->Read(1000, {kLong, kMostOutput}, &piece).ok());
  CHECK(!HasChildren());
}

TEST(AReadingIsEndedByAnotherThread) {
  const auto reading = OutputOf("sleep 60");
  std::thread other([&reading] { reading->Cancel(); });
  Piece piece;
  CHECK(reading->Read(1000, {kLong, kMostOutput}, &piece).ok());
  other.join();
  CHECK(piece.last && piece.killed == Killed::kCancelled);
  CHECK(!HasChildren());
}

TEST(ASessionIsOneProgramForAllPieces) {
  Reader reader("while read -r line; do echo \"$$ $line\"; echo warning >&2; done");
  std::string child;
  for (const char* piece : {"1", "2", "3"}) {
    Answer answer;
    const std::string line = std::string(piece) + "\n";
    CHECK(reader.Exchange(line, " " + line, &answer).ok());
    CHECK(answer.acknowledged);
    CHECK_EQUAL(answer.written, line.size());
    const std::string said = answer.output.substr(0, answer.output.find(' '));
    CHECK(child.empty() || child == said);
    child = said;
  }
  reader->Close(kLong);
  CHECK(!HasChildren());
  Answer answer;
  CHECK(reader.Exchange("4\n", "4", &answer).kind == FailureKind::kClosed);
}

TEST(ASessionReadsOutputWhileItWrites) {
  // Far more than the socket and the pipe have room for: without reading, both would wait for ever.
  Reader reader("cat");
  std::string piece(8'000'000, 'x');
  piece += "end\n";
  Answer answer;
  CHECK(reader.Exchange(piece, "end\n", &answer, {kLong, 2 * piece.size()}).ok());
  CHECK(answer.acknowledged);
  CHECK_EQUAL(answer.output.size(), piece.size());
}

TEST(ASessionWritesPiecesOfEverySizeInTheirOrder) {
  Reader reader("cat");
  const std::string text = "abcdefghijklmnopqrstuvwxyz\n";
  for (const size_t size : {1U, 3U, 100U}) {
    Input input = InputOf(text, size);
    input.insert(input.begin(), {nullptr, 0});
    input.insert(input.begin() + 2, {nullptr, 0});
    input.push_back({nullptr, 0});
    Answer answer;
    CHECK(reader->Exchange(input, "\n", {kLong, kMostOutput}, &answer).ok());
    CHECK_EQUAL(answer.output, text);
    CHECK_EQUAL(answer.written, text.size());
  }
}

TEST(ASessionReportsTheEndOfItsProgram) {
  Reader reader("read -r line; echo \"got $line\"; echo bad >&2; exit 3");
  Answer answer;
  CHECK(reader.Exchange("one\ntwo\n", "two", &answer).ok());
  CHECK(!answer.acknowledged);
  CHECK(answer.written > 0);
  CHECK_EQUAL(answer.output, "got one\n");
  CHECK_EQUAL(answer.errors, "bad\n");
  CHECK(WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 3);
  CHECK(!HasChildren());
}

TEST(ASessionWritesNothingToAProgramThatEndedBefore) {
  Reader reader("read -r line; echo $$");
  Answer first;
  CHECK(reader.Exchange("one\n", "\n", &first).ok());
  CHECK(first.acknowledged);
  siginfo_t ended{};
  CHECK(waitid(P_PID, std::stoul(first.output), &ended, WEXITED | WNOWAIT) == 0);
  Answer second;
  CHECK(reader.Exchange("two\n", "two", &second).ok());
  CHECK(!second.acknowledged);
  CHECK_EQUAL(second.written, 0U);
  CHECK(!HasChildren());
}

TEST(ASessionEndsAProgramThatExceedsALimit) {
  for (const bool late : {true, false}) {
    Reader reader(late ? "sleep 60" : "yes");
    Answer answer;
    const std::chrono::milliseconds time = late ? std::chrono::milliseconds(100) : kLong;
    CHECK(reader.Exchange("x", "none", &answer, {time, kMostOutput}).ok());
    CHECK(!answer.acknowledged);
    CHECK(answer.killed == (late ? Killed::kLate : Killed::kTooLong));
    CHECK(WIFSIGNALED(answer.status) && WTERMSIG(answer.status) == SIGKILL);
    CHECK(!HasChildren());
  }
}

TEST(ASessionIsEndedByAnotherThread) {
  Reader reader("sleep 60");
  std::thread other([&reader] { reader->Cancel(); });
  Answer answer;
  CHECK(reader.Exchange("x", "none", &answer).ok());
  other.join();
  CHECK(answer.killed == Killed::kCancelled);
  CHECK(!HasChildren());
}

TEST(AProgramEndsWithItsSession) {
  {
    Reader reader("trap '' TERM; read -r line; echo ready; exec sleep 60");
    Answer answer;
    CHECK(reader.Exchange("x\n", "ready", &answer).ok());
    CHECK(answer.acknowledged);
  }
  CHECK(!HasChildren());
}

TEST(ASessionWithoutAProgram) {
  Command command;
  CHECK(command.Prepare({"/nowhere/tool"}, Path("/usr/bin:/bin")).ok());
  Session session(std::move(command), Path("/usr/bin:/bin"));
  Answer answer;
  CHECK(session.Exchange({}, "none", {kLong, kMostOutput}, &answer).is_errno(ENOENT));
  session.Close(kLong);
}
