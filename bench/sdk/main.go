// The peer of `make bench`: a chain of cosmos-sdk with auth, bank, staking, distribution, gov and consensus, and CometBFT
// in process. A load is "send", bank sends, or "mix", to which delegations, withdrawals of these and votes belong.
//
//	sdkd genesis <load> <base64 ed25519 key>   prints the app_state of a chain for a load; see genesis.go
//	sdkd sign <load> <first> <count>           prints signed transactions, one in base64 a line; see sign.go
//	sdkd addresses                             prints the address of each sender
//	sdkd start --home DIR                      runs the node, as simd does: the same command of the same package
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	cmtcfg "github.com/cometbft/cometbft/config"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/server"
	svrcmd "github.com/cosmos/cosmos-sdk/server/cmd"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/testutil/configurator"

	// Each registers its module with depinject.
	_ "github.com/cosmos/cosmos-sdk/x/auth"
	_ "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
	_ "github.com/cosmos/cosmos-sdk/x/bank"
	_ "github.com/cosmos/cosmos-sdk/x/consensus"
	_ "github.com/cosmos/cosmos-sdk/x/distribution"
	_ "github.com/cosmos/cosmos-sdk/x/gov"
	_ "github.com/cosmos/cosmos-sdk/x/staking"
)

// modules is the chain's app config. "tx" is the ante handler: it checks signature, sequence, fee and memo. Gov does not
// work without distribution, which without mint and fees has nothing to distribute.
func modules() depinject.Config {
	return configurator.NewAppConfig(
		configurator.AuthModule(), configurator.BankModule(), configurator.StakingModule(),
		configurator.DistributionModule(), configurator.GovModule(), configurator.ConsensusModule(), configurator.TxModule(),
	)
}

// newApp builds the application with the options that simd gives to its own: those of app.toml and the flags, and
// optimistic execution.
func newApp(logger log.Logger, db dbm.DB, trace io.Writer, options servertypes.AppOptions) servertypes.Application {
	var builder *runtime.AppBuilder
	must(depinject.Inject(depinject.Configs(modules(), depinject.Supply(logger, options)), &builder))
	app := builder.Build(db, trace, append(server.DefaultBaseappOptions(options), baseapp.SetOptimisticExecution())...)
	must(app.Load(true))
	return app
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	root := &cobra.Command{
		Use:          "sdkd",
		SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() != "start" {
				return nil
			}
			if err := client.SetCmdClientContextHandler(client.Context{}, cmd); err != nil {
				return err
			}
			return server.InterceptConfigsPreRunHandler(cmd, "", nil, cmtcfg.DefaultConfig())
		},
	}
	root.AddCommand(
		server.StartCmd(newApp, ""),
		&cobra.Command{Use: "genesis", Args: cobra.ExactArgs(2), RunE: func(_ *cobra.Command, args []string) error {
			state, err := genesis(args[0] == "mix", args[1])
			fmt.Println(string(state))
			return err
		}},
		&cobra.Command{Use: "addresses", Run: func(*cobra.Command, []string) {
			for at := range senders {
				fmt.Println(addressOf(at).String())
			}
		}},
		&cobra.Command{Use: "sign", Args: cobra.ExactArgs(3), RunE: func(_ *cobra.Command, args []string) error {
			signed := signedSend
			if args[0] == "mix" {
				signed = signedMix
			}
			first, err := strconv.Atoi(args[1])
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(args[2])
			if err != nil {
				return err
			}
			out := bufio.NewWriter(os.Stdout)
			for at := first; at < first+count; at++ {
				fmt.Fprintln(out, base64.StdEncoding.EncodeToString(signed(at)))
			}
			return out.Flush()
		}},
	)
	if err := svrcmd.Execute(root, "", ""); err != nil {
		os.Exit(1)
	}
}
