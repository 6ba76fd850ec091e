// A peer that no node knows: it dials one with a key made for the occasion and asks for state sync data with numbers that no honest
// peer sends. Every chunk request is answered before the next one leaves. Prints one line of JSON for each answer. Exits 1 when the
// node hangs up or does not answer in time.
//
//	go run . <node id>@<host>:<port> <chain id>
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/p2p/conn"
	"github.com/cometbft/cometbft/proto/tendermint/statesync"
	"github.com/cometbft/cometbft/version"
)

const (
	snapshotChannel = byte(0x60)
	chunkChannel    = byte(0x61)
	answerTimeout   = 300 * time.Second
)

var requests = []*statesync.ChunkRequest{
	{Height: 1 << 63, Format: 1, Index: 0},
	{Height: math.MaxUint64, Format: math.MaxUint32, Index: math.MaxUint32},
	{Height: 1 << 53, Format: 1, Index: math.MaxUint32},
	{Height: 1<<53 - 1, Format: 1, Index: 0},
	{Height: math.MaxInt64, Format: 1, Index: 1},
	{Height: 1, Format: 0, Index: 0},
	{Height: 1, Format: 1, Index: math.MaxUint32},
}

// asker hands the node to main once it is connected, and main the node's answers.
type asker struct {
	p2p.BaseReactor
	connected chan p2p.Peer
	lost      chan any
	chunks    chan *statesync.ChunkResponse
}

func (a *asker) GetChannels() []*conn.ChannelDescriptor {
	channel := func(id byte, bytes int) *conn.ChannelDescriptor {
		return &conn.ChannelDescriptor{
			ID: id, Priority: 5, SendQueueCapacity: 10, RecvMessageCapacity: bytes, MessageType: &statesync.Message{},
		}
	}
	return []*conn.ChannelDescriptor{channel(snapshotChannel, 4e6), channel(chunkChannel, 16e6)}
}

func (a *asker) AddPeer(peer p2p.Peer)             { a.connected <- peer }
func (a *asker) RemovePeer(_ p2p.Peer, reason any) { a.lost <- reason }
func (a *asker) Receive(envelope p2p.Envelope) {
	if chunk, ok := envelope.Message.(*statesync.ChunkResponse); ok {
		a.chunks <- chunk
	}
}

// dial connects as a new node of the network, and returns when the handshake is done.
func dial(address, network string) (*asker, error) {
	key := p2p.NodeKey{PrivKey: ed25519.GenPrivKey()}
	info := p2p.DefaultNodeInfo{
		ProtocolVersion: p2p.NewProtocolVersion(version.P2PProtocol, version.BlockProtocol, 0),
		DefaultNodeID:   key.ID(), ListenAddr: "127.0.0.1:1", Network: network, Version: "0.38.25",
		Channels: []byte{snapshotChannel, chunkChannel}, Moniker: "stranger",
	}
	node, err := p2p.NewNetAddressString(address)
	if err != nil {
		return nil, err
	}
	settings := config.DefaultP2PConfig()
	settings.AllowDuplicateIP = true
	transport := p2p.NewMultiplexTransport(info, key, p2p.MConnConfig(settings))
	own, err := p2p.NewNetAddressString(p2p.IDAddressString(key.ID(), "127.0.0.1:0"))
	if err != nil {
		return nil, err
	}
	if err := transport.Listen(*own); err != nil {
		return nil, err
	}
	a := &asker{connected: make(chan p2p.Peer, 1), lost: make(chan any, 1), chunks: make(chan *statesync.ChunkResponse, 1)}
	a.BaseReactor = *p2p.NewBaseReactor("asker", a)
	sw := p2p.NewSwitch(settings, transport)
	sw.SetLogger(log.NewNopLogger())
	sw.SetNodeInfo(info)
	sw.SetNodeKey(&key)
	sw.AddReactor("asker", a)
	if err := sw.Start(); err != nil {
		return nil, err
	}
	return a, sw.DialPeerWithAddress(node)
}

func (a *asker) ask(peer p2p.Peer, request *statesync.ChunkRequest) error {
	if !peer.Send(p2p.Envelope{ChannelID: chunkChannel, Message: request}) {
		return fmt.Errorf("the request for height %d was not sent", request.Height)
	}
	select {
	case answer := <-a.chunks:
		return json.NewEncoder(os.Stdout).Encode(map[string]any{
			"height": strconv.FormatUint(answer.Height, 10), "format": answer.Format, "index": answer.Index,
			"missing": answer.Missing, "bytes": len(answer.Chunk),
		})
	case reason := <-a.lost:
		return fmt.Errorf("the node hung up at height %d: %v", request.Height, reason)
	case <-time.After(answerTimeout):
		return fmt.Errorf("no answer for height %d within %s", request.Height, answerTimeout)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: %s <node id>@<host>:<port> <chain id>", os.Args[0])
	}
	a, err := dial(os.Args[1], os.Args[2])
	if err != nil {
		return err
	}
	peer := <-a.connected
	if !peer.Send(p2p.Envelope{ChannelID: snapshotChannel, Message: &statesync.SnapshotsRequest{}}) {
		return fmt.Errorf("the request for snapshots was not sent")
	}
	for _, request := range requests {
		if err := a.ask(peer, request); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
