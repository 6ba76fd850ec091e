// Package peer connects to a node as one that no node knows: authenticated by a key made for the occasion, and free to send any bytes.
package peer

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/libs/protoio"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/p2p/conn"
	tmp2p "github.com/cometbft/cometbft/proto/tendermint/p2p"
	"github.com/cometbft/cometbft/version"
)

const (
	handshakeTimeout = 20 * time.Second
	receivedMax      = 32 << 20
)

// Peer is one connection. Lost is closed when the node hung up, or sent what cannot be read.
type Peer struct {
	*conn.MConnection
	Lost chan struct{}
}

// Dial connects to <node id>@<host>:<port> with these channels, and returns when the handshake is done. received is called for each
// message of the node.
func Dial(address, network string, channels []byte, received func(p *Peer, channel byte, bytes []byte)) (*Peer, error) {
	_, host, _ := strings.Cut(address, "@")
	raw, err := net.DialTimeout("tcp", host, handshakeTimeout)
	if err != nil {
		return nil, err
	}
	p, err := shakeHands(raw, network, channels, received)
	if err != nil {
		raw.Close()
	}
	return p, err
}

func shakeHands(raw net.Conn, network string, channels []byte, received func(*Peer, byte, []byte)) (*Peer, error) {
	key := p2p.NodeKey{PrivKey: ed25519.GenPrivKey()}
	if err := raw.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, err
	}
	secret, err := conn.MakeSecretConnection(raw, key.PrivKey)
	if err != nil {
		return nil, fmt.Errorf("secret connection: %w", err)
	}
	info := p2p.DefaultNodeInfo{
		ProtocolVersion: p2p.NewProtocolVersion(version.P2PProtocol, version.BlockProtocol, 0),
		DefaultNodeID:   key.ID(), ListenAddr: "127.0.0.1:1", Network: network, Version: "0.38.25", Channels: channels, Moniker: "stranger",
	}
	if _, err := protoio.NewDelimitedWriter(secret).WriteMsg(info.ToProto()); err != nil {
		return nil, err
	}
	if _, err := protoio.NewDelimitedReader(secret, p2p.MaxNodeInfoSize()).ReadMsg(new(tmp2p.DefaultNodeInfo)); err != nil {
		return nil, fmt.Errorf("node info: %w", err)
	}
	if err := raw.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return start(secret, channels, received)
}

func start(secret net.Conn, channels []byte, received func(*Peer, byte, []byte)) (*Peer, error) {
	p := &Peer{Lost: make(chan struct{})}
	var descriptors []*conn.ChannelDescriptor
	for _, id := range channels {
		descriptors = append(descriptors, &conn.ChannelDescriptor{ID: id, Priority: 5, SendQueueCapacity: 10, RecvMessageCapacity: receivedMax})
	}
	settings := p2p.MConnConfig(config.DefaultP2PConfig())
	settings.FlushThrottle = time.Millisecond
	settings.SendRate, settings.RecvRate = 1<<30, 1<<30
	p.MConnection = conn.NewMConnectionWithConfig(secret, descriptors,
		func(channel byte, bytes []byte) { received(p, channel, bytes) },
		func(any) { close(p.Lost) }, settings)
	p.SetLogger(log.NewNopLogger()) // Channels have none by themselves.
	return p, p.Start()
}

// IsLost says whether the node hung up.
func (p *Peer) IsLost() bool {
	select {
	case <-p.Lost:
		return true
	default:
		return false
	}
}
