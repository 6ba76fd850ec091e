// Prints proofs of trees that this program builds by itself, each with the verdict of the ICS-23 library that others use:
// go run ./vectors > vectors.json. Our verifier has to give the same verdicts (ics23.test.ts).
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"

	ics23 "github.com/cosmos/ics23/go"
)

type vector struct {
	Name    string            `json:"name"`
	Root    string            `json:"root"`
	Key     string            `json:"key"`
	Value   *string           `json:"value,omitempty"` // left out: the claim is that the key is absent
	Proof   string            `json:"proof"`
	Verdict string            `json:"verdict"`
	Flips   map[string]string `json:"flips,omitempty"` // of each byte at: the verdict (y or n) when bit at % 8 of it is flipped
}

type claim struct{ root, key, value, proof []byte }

func verdict(c claim) (said string) {
	defer func() {
		if recover() != nil { // the library panics on some paths of unequal depth
			said = "refused"
		}
	}()
	proof := &ics23.CommitmentProof{}
	if proof.Unmarshal(c.proof) != nil {
		return "refused"
	}
	var ok bool
	if c.value != nil {
		ok = ics23.VerifyMembership(ics23.SmtSpec, c.root, proof, c.key, c.value)
	} else {
		ok = ics23.VerifyNonMembership(ics23.SmtSpec, c.root, proof, c.key)
	}
	if ok {
		return "ok"
	}
	return "refused"
}

var vectors []vector

func add(name string, c claim, flips bool) {
	one := vector{Name: name, Root: base64.StdEncoding.EncodeToString(c.root), Key: base64.StdEncoding.EncodeToString(c.key), Proof: base64.StdEncoding.EncodeToString(c.proof), Verdict: verdict(c)}
	if c.value != nil {
		text := base64.StdEncoding.EncodeToString(c.value)
		one.Value = &text
	}
	if flips {
		one.Flips = map[string]string{}
		for member, part := range map[string][]byte{"root": c.root, "key": c.key, "value": c.value, "proof": c.proof} {
			for at := range part {
				part[at] ^= 1 << (at % 8)
				one.Flips[member] += map[string]string{"ok": "y", "refused": "n"}[verdict(c)]
				part[at] ^= 1 << (at % 8)
			}
		}
	}
	vectors = append(vectors, one)
}

func hash(parts ...[]byte) []byte {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return sum[:]
}

type leaf struct {
	key, value, place []byte
	path              []*ics23.InnerOp
}

type tree struct {
	root   []byte
	leaves []*leaf // by sha256(key)
}

var empty = make([]byte, 32)

// One leaf alone stands where its branch begins; of two or more each bit of sha256(key) is a level.
func build(leaves []*leaf, depth int) []byte {
	if len(leaves) == 0 {
		return empty
	}
	if len(leaves) == 1 {
		return hash([]byte{0}, leaves[0].place, hash(leaves[0].value))
	}
	cut := sort.Search(len(leaves), func(at int) bool { return leaves[at].place[depth/8]>>(7-depth%8)&1 == 1 })
	left, right := build(leaves[:cut], depth+1), build(leaves[cut:], depth+1)
	for at, one := range leaves {
		op := &ics23.InnerOp{Hash: ics23.HashOp_SHA256, Prefix: []byte{1}, Suffix: right}
		if at >= cut {
			op.Prefix, op.Suffix = append([]byte{1}, left...), nil
		}
		one.path = append(one.path, op)
	}
	return hash([]byte{1}, left, right)
}

func makeTree(size int) *tree {
	t := &tree{}
	for at := 0; at < size; at++ {
		key := []byte(fmt.Sprintf("key %d of %d", at, size))
		t.leaves = append(t.leaves, &leaf{key: key, value: []byte(fmt.Sprintf("value %d", at)), place: hash(key)})
	}
	sort.Slice(t.leaves, func(a, b int) bool { return bytes.Compare(t.leaves[a].place, t.leaves[b].place) < 0 })
	t.root = build(t.leaves, 0)
	return t
}

func exist(l *leaf) *ics23.ExistenceProof {
	spec := ics23.SmtSpec.LeafSpec
	op := &ics23.LeafOp{Hash: spec.Hash, PrehashKey: spec.PrehashKey, PrehashValue: spec.PrehashValue, Length: spec.Length, Prefix: []byte{0}}
	proof := &ics23.ExistenceProof{Key: l.key, Value: l.value, Leaf: op}
	for _, one := range l.path {
		proof.Path = append(proof.Path, &ics23.InnerOp{Hash: one.Hash, Prefix: one.Prefix, Suffix: one.Suffix})
	}
	return proof
}

func bytesOf(proof *ics23.CommitmentProof) []byte {
	out, err := proof.Marshal()
	if err != nil {
		panic(err)
	}
	return out
}

func member(proof *ics23.ExistenceProof) []byte {
	return bytesOf(&ics23.CommitmentProof{Proof: &ics23.CommitmentProof_Exist{Exist: proof}})
}

func absent(key []byte, left, right *ics23.ExistenceProof) []byte {
	non := &ics23.NonExistenceProof{Key: key, Left: left, Right: right}
	return bytesOf(&ics23.CommitmentProof{Proof: &ics23.CommitmentProof_Nonexist{Nonexist: non}})
}

// A key whose place is left of all leaves (gap 0), between two, or right of all (gap len).
func keyIn(t *tree, gap int) []byte {
	for at := 0; ; at++ {
		key := []byte(fmt.Sprintf("absent %d", at))
		place := hash(key)
		if sort.Search(len(t.leaves), func(i int) bool { return bytes.Compare(t.leaves[i].place, place) > 0 }) == gap {
			return key
		}
	}
}

func neighbours(t *tree, gap int) (left, right *ics23.ExistenceProof) {
	if gap > 0 {
		left = exist(t.leaves[gap-1])
	}
	if gap < len(t.leaves) {
		right = exist(t.leaves[gap])
	}
	return left, right
}

func main() {
	for _, size := range []int{1, 2, 3, 5, 23} {
		t := makeTree(size)
		sound(t)
		if size >= 5 {
			wrong(t)
		}
	}
	forms()
	fmt.Println("[")
	for at, one := range vectors {
		line, err := json.Marshal(one)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line) + map[bool]string{true: ",", false: ""}[at < len(vectors)-1])
	}
	fmt.Println("]")
}
