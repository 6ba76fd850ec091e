// A stranger who sends every message type of CometBFT's reactors with numbers, lists and bytes that no honest peer sends. When the
// node hangs up it comes back with another key. Prints one JSON object: how many messages of each type were sent, and how often the
// node hung up.
//
//	go run ./extremes <node id>@<host>:<port> <chain id> <messages> <seed>
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cometbft/cometbft/proto/tendermint/blocksync"
	"github.com/cometbft/cometbft/proto/tendermint/consensus"
	"github.com/cometbft/cometbft/proto/tendermint/mempool"
	"github.com/cometbft/cometbft/proto/tendermint/p2p"
	"github.com/cometbft/cometbft/proto/tendermint/statesync"
	"github.com/cometbft/cometbft/proto/tendermint/types"

	"svcd/test/p2p/peer"
)

const (
	stateChannel = 0x20
	// A connection carries so many messages at most.
	messagesOfPeer = 40
	// One of so many byte strings is as large as a message may be, or larger.
	largeOneOf = 400
	dialsMax   = 50
)

// channels: what may come on each. The four of consensus share one message.
var channels = []struct {
	id      byte
	message proto.Message
}{
	{0x00, &p2p.Message{}}, {stateChannel, &consensus.Message{}}, {0x21, &consensus.Message{}}, {0x22, &consensus.Message{}},
	{0x23, &consensus.Message{}}, {0x30, &mempool.Message{}}, {0x38, &types.EvidenceList{}}, {0x40, &blocksync.Message{}},
	{0x60, &statesync.Message{}}, {0x61, &statesync.Message{}},
}

var numbers = []int64{
	0, -1, 1, 2, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MaxUint32, math.MaxUint32 + 1,
	1<<53 - 1, 1 << 53, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1,
}

// head: the node's height, as it told it last.
var head atomic.Int64

// kind is one message type of a channel: the message, and the member of its oneof, or its own type where it has none.
type kind struct {
	channel byte
	message proto.Message
	member  reflect.Type
}

func kinds() (all []kind) {
	for _, channel := range channels {
		members := []any{channel.message}
		if oneof, ok := channel.message.(interface{ XXX_OneofWrappers() []any }); ok {
			members = oneof.XXX_OneofWrappers()
		}
		for _, member := range members {
			all = append(all, kind{channel.id, channel.message, reflect.TypeOf(member)})
		}
	}
	return all
}

// filler fills messages. extreme: how likely a value is one that no honest peer sends.
type filler struct {
	*rand.Rand
	extreme float64
}

func (f filler) isExtreme() bool { return f.Float64() < f.extreme }

// number: of a field with this name, what an honest peer might send, or an extreme.
func (f filler) number(name string) int64 {
	switch height := head.Load(); {
	case f.isExtreme():
		return numbers[f.Intn(len(numbers))]
	case name == "Height" || name == "Base":
		return []int64{1, height - 1, height, height, height + 1}[f.Intn(5)]
	case name == "Type":
		return []int64{1, 2, 32}[f.Intn(3)] // Prevote, precommit, proposal.
	case name == "Step" || name == "BlockIdFlag" || name == "Total":
		return int64(1 + f.Intn(3))
	case name == "LastCommitRound" || name == "ProposalPolRound" || name == "PolRound":
		return int64(f.Intn(2) - 1)
	case name == "Bits":
		return int64(1 + f.Intn(64))
	default:
		return int64(f.Intn(2))
	}
}

func (f filler) bytes(name string) []byte {
	size := 32
	if strings.HasSuffix(name, "Address") {
		size = 20
	} else if strings.HasSuffix(name, "Signature") {
		size = 64
	}
	if f.isExtreme() {
		size = []int{0, 1, 31, 33, 65, 4096, 70_000}[f.Intn(7)]
		if f.Intn(largeOneOf) == 0 {
			size = []int{1 << 20, 1<<20 + 1, 5 << 20, 20 << 20}[f.Intn(4)]
		}
	}
	bytes := make([]byte, size)
	f.Read(bytes)
	return bytes
}

func (f filler) fill(value reflect.Value, name string, depth int) {
	switch value.Kind() {
	case reflect.Int32, reflect.Int64:
		value.SetInt(f.number(name))
	case reflect.Uint32, reflect.Uint64:
		value.SetUint(uint64(f.number(name)))
	case reflect.Bool:
		value.SetBool(f.Intn(2) == 0)
	case reflect.String:
		value.SetString(string(f.bytes(name)))
	case reflect.Slice:
		f.fillSlice(value, name, depth)
	case reflect.Pointer:
		if depth == 0 || !f.isExtreme() || f.Intn(3) > 0 {
			value.Set(reflect.New(value.Type().Elem()))
			f.fill(value.Elem(), name, depth+1)
		}
	case reflect.Struct:
		f.fillStruct(value, depth)
	}
}

func (f filler) fillSlice(value reflect.Value, name string, depth int) {
	if value.Type().Elem().Kind() == reflect.Uint8 {
		value.SetBytes(f.bytes(name))
		return
	}
	length := 1
	if f.isExtreme() {
		length = []int{0, 1, 100, 1000}[f.Intn(4)] >> min(depth, 8)
	}
	value.Set(reflect.MakeSlice(value.Type(), length, length))
	for at := range length {
		f.fill(value.Index(at), name, depth+2)
	}
}

func (f filler) fillStruct(value reflect.Value, depth int) {
	if value.Type() == reflect.TypeOf(time.Time{}) {
		// The bounds of what protobuf can carry.
		seconds := []int64{time.Now().Unix(), 0, -62135596800, 253402300799}[f.Intn(4)]
		value.Set(reflect.ValueOf(time.Unix(seconds, int64(f.Intn(1e9))).UTC()))
		return
	}
	if oneof, ok := value.Addr().Interface().(interface{ XXX_OneofWrappers() []any }); ok {
		wrappers := oneof.XXX_OneofWrappers()
		f.fillSum(value, reflect.TypeOf(wrappers[f.Intn(len(wrappers))]), depth)
		return
	}
	for at := range value.NumField() {
		f.fill(value.Field(at), value.Type().Field(at).Name, depth+1)
	}
}

// fillSum sets the one field of a message that is a oneof.
func (f filler) fillSum(value reflect.Value, wrapper reflect.Type, depth int) {
	sum := reflect.New(wrapper.Elem())
	f.fill(sum.Elem(), "", depth)
	value.FieldByName("Sum").Set(sum)
}

// encode returns nil for what the encoder refuses, or panics at: a member of a oneof or list that is nil.
func encode(message proto.Message) (bytes []byte) {
	defer func() {
		if recover() != nil {
			bytes = nil
		}
	}()
	bytes, _ = proto.Marshal(message)
	return bytes
}

// message makes the bytes of one message. Some are cut, or get bytes flipped.
func (f filler) message(k kind) []byte {
	message := proto.Clone(k.message)
	value := reflect.ValueOf(message).Elem()
	if value.FieldByName("Sum").IsValid() {
		f.fillSum(value, k.member, 0)
	} else {
		f.fillStruct(value, 0)
	}
	bytes := encode(message)
	if bytes == nil {
		return f.bytes("")
	}
	if len(bytes) > 0 && f.Intn(8) == 0 {
		bytes[f.Intn(len(bytes))] ^= byte(1 + f.Intn(255))
		bytes = bytes[:len(bytes)-f.Intn(min(len(bytes), 20))]
	}
	return bytes
}

// note reads the node's height.
func note(_ *peer.Peer, channel byte, bytes []byte) {
	message := &consensus.Message{}
	if channel != stateChannel || proto.Unmarshal(bytes, message) != nil {
		return
	}
	if step := message.GetNewRoundStep(); step != nil {
		head.Store(step.Height)
	}
}

// meet dials, and tells the node that this peer is where the node is, as far as it said.
func meet(address, network string) (p *peer.Peer, err error) {
	var ids []byte
	for _, channel := range channels {
		ids = append(ids, channel.id)
	}
	for range dialsMax {
		if p, err = peer.Dial(address, network, ids, note); err == nil {
			height := max(head.Load(), 1)
			step := &consensus.NewRoundStep{Height: height, Step: 1, LastCommitRound: int32(min(height-2, 0))}
			bytes, _ := proto.Marshal(&consensus.Message{Sum: &consensus.Message_NewRoundStep{NewRoundStep: step}})
			p.Send(stateChannel, bytes)
			return p, nil
		}
		time.Sleep(100 * time.Millisecond) // The node may have as many peers as it takes.
	}
	return nil, err
}

func run(address, network string, count, seed int64) error {
	f := filler{Rand: rand.New(rand.NewSource(seed))}
	all := kinds()
	sent, hungUp, peers := map[string]int{}, 0, 0
	for at := int64(0); at < count; {
		p, err := meet(address, network)
		if err != nil {
			return fmt.Errorf("after %d messages: %w", at, err)
		}
		peers++
		for range messagesOfPeer {
			k := all[at%int64(len(all))]
			f.extreme = []float64{0.02, 0.1, 0.3, 1}[f.Intn(4)]
			if at >= count || !p.Send(k.channel, f.message(k)) {
				break
			}
			sent[fmt.Sprintf("%#04x %s", k.channel, k.member.Elem().Name())]++
			at++
			time.Sleep(time.Millisecond)
		}
		if p.FlushStop(); p.IsLost() {
			hungUp++
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"sent": sent, "peers": peers, "hungUp": hungUp, "head": head.Load()})
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintf(os.Stderr, "usage: %s <node id>@<host>:<port> <chain id> <messages> <seed>\n", os.Args[0])
		os.Exit(2)
	}
	var count, seed int64
	fmt.Sscan(os.Args[3]+" "+os.Args[4], &count, &seed)
	if err := run(os.Args[1], os.Args[2], count, seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
