# SCTP for the judge, because Node.js has no sockets of it. Standard input ends the process.
#   sctp.pl serve NAME PORT   answers each connection with NAME and the address of its client
#   sctp.pl dial              for each line "ID ADDRESS PORT SOURCE SOURCEPORT": one connection, and a line "ID RESULT [NAME ADDRESS]"
use strict;
use warnings;
use Errno qw(ECONNREFUSED ECONNRESET);
use IO::Select;
use Socket qw(:DEFAULT inet_ntop inet_pton AF_INET6 IN6ADDR_ANY pack_sockaddr_in6 unpack_sockaddr_in6);

use constant SCTP => 132;
# Longer than the patience of clients, in s.
use constant PATIENCE => 4;
$SIG{CHLD} = 'IGNORE';
$| = 1;

sub packed {
    my ($address, $port) = @_;
    return $address =~ /:/
        ? pack_sockaddr_in6($port, inet_pton(AF_INET6, $address))
        : pack_sockaddr_in($port, inet_pton(AF_INET, $address));
}

sub serve {
    my ($name, $port) = @_;
    socket(my $listener, AF_INET6, SOCK_STREAM, SCTP) or die "socket: $!\n";
    setsockopt($listener, SOL_SOCKET, SO_REUSEADDR, 1);
    bind($listener, pack_sockaddr_in6($port, IN6ADDR_ANY)) or die "bind: $!\n";
    listen($listener, 128) or die "listen: $!\n";
    print "listening\n";
    my $select = IO::Select->new(\*STDIN, $listener);
    while (1) {
        for my $ready ($select->can_read) {
            exit if $ready == \*STDIN;
            my $from = accept(my $client, $listener) or next;
            next if fork;
            alarm PATIENCE;
            my $address = inet_ntop(AF_INET6, (unpack_sockaddr_in6($from))[1]);
            $address =~ s/^::ffff://;
            sysread($client, my $question, 1024);
            syswrite($client, "$name $address\n");
            # The client closes first.
            sysread($client, $question, 1024);
            exit;
        }
    }
}

sub dial {
    my ($id, $address, $port, $source, $source_port) = @_;
    alarm PATIENCE;
    my $family = $address =~ /:/ ? AF_INET6 : AF_INET;
    my $done = sub { print join(' ', $id, @_) . "\n"; exit };
    my $failed = sub {
        $done->($! == ECONNREFUSED ? 'refused' : $! == ECONNRESET ? 'reset' : 'unreachable');
    };
    socket(my $socket, $family, SOCK_STREAM, SCTP) or $failed->();
    bind($socket, packed($source, $source_port)) or $failed->();
    connect($socket, packed($address, $port)) or $failed->();
    syswrite($socket, "who is there?\n") or $failed->();
    my $read = sysread($socket, my $answer, 1024);
    $failed->() unless defined $read;
    $done->('reset') unless $read;
    $done->('answered', split ' ', $answer);
}

my $task = shift // '';
if ($task eq 'serve') {
    serve(@ARGV);
} elsif ($task eq 'dial') {
    while (my $line = <STDIN>) {
        next if fork;
        dial(split ' ', $line);
    }
} else {
    die "the task must be serve or dial, and is '$task'\n";
}
